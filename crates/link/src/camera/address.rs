//! Which camera: `front=/dev/video0`, `wrist=emulated:arm.sock@640x480@15`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::{CameraSource, CameraWish, EmulatedCamera, Ros1Camera, V4l2Camera};
use crate::error::LinkError;

/// Where a camera is. Kinds: [`CameraAddress::KINDS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CameraAddress {
    /// A webcam.
    V4l2(PathBuf),
    /// A camera of a stand-in's scene.
    Emulated {
        /// Where the stand-in is spoken to.
        socket: PathBuf,
        /// Its name there.
        camera: String,
    },
    /// A topic of ROS 1.
    Ros1(String),
}

impl CameraAddress {
    /// What can be said.
    pub const KINDS: &str = "/dev/video0 (or any path under /dev/v4l/by-id), \
                             ros1:TOPIC (ros1:/camera/color/image_raw), emulated:SOCKET";

    /// Opens it.
    ///
    /// # Errors
    /// When it is not there, is somebody else's, or cannot do what is wished for; with what helps.
    pub fn open(&self, wish: CameraWish) -> Result<Box<dyn CameraSource>, LinkError> {
        Ok(match self {
            Self::V4l2(path) => Box::new(V4l2Camera::open(path, wish)?),
            Self::Ros1(topic) => Box::new(Ros1Camera::open(topic, wish)?),
            Self::Emulated { socket, camera } => {
                Box::new(EmulatedCamera::open(socket, camera, wish)?)
            }
        })
    }
}

impl fmt::Display for CameraAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4l2(path) => write!(f, "{}", path.display()),
            Self::Ros1(topic) => write!(f, "ros1:{topic}"),
            Self::Emulated { socket, camera } => {
                write!(f, "emulated:{}:{camera}", socket.display())
            }
        }
    }
}

/// A camera, what it is called, and what is wished of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraChoice {
    /// Its name in recordings.
    pub name: String,
    /// Where it is.
    pub address: CameraAddress,
    /// Size and rate.
    pub wish: CameraWish,
}

impl FromStr for CameraChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || {
            format!(
                "\"{text}\": give NAME=SOURCE[@WIDTHxHEIGHT][@HZ], SOURCE one of {}",
                CameraAddress::KINDS
            )
        };
        let (name, rest) = text.split_once('=').ok_or_else(form)?;
        let named = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if name.is_empty() || !named {
            return Err(format!(
                "\"{name}\" is no camera's name: letters, digits, _ and - make one"
            ));
        }
        let mut parts = rest.split('@');
        let source = parts.next().filter(|source| !source.is_empty()).ok_or_else(form)?;
        let mut wish = CameraWish::default();
        for part in parts {
            match part.split_once('x') {
                Some((width, height)) => {
                    let number =
                        |text: &str| text.parse().ok().filter(|px| (16..=8192).contains(px));
                    let size = (number(width), number(height));
                    let (Some(width), Some(height)) = size else {
                        return Err(format!("\"{part}\" is no size: 640x480, 16 to 8192 each"));
                    };
                    wish.size_px = Some([width, height]);
                }
                None => {
                    let hz = part.parse().ok().filter(|hz| (0.1..=1000.0).contains(hz));
                    wish.hz = Some(hz.ok_or_else(|| format!("\"{part}\" is no rate: 30"))?);
                }
            }
        }
        if let Some(topic) = source.strip_prefix("ros1:") {
            let topic = citrange_ros::global(topic).map_err(|error| error.to_string())?;
            return Ok(Self { name: name.to_owned(), address: CameraAddress::Ros1(topic), wish });
        }
        let address = match source.strip_prefix("emulated:") {
            Some(socket) => {
                // A name behind the socket's, where it is another one than ours.
                let (socket, camera) = match socket.rsplit_once(':') {
                    Some((socket, camera)) if !camera.contains('/') => (socket, camera),
                    _ => (socket, name),
                };
                CameraAddress::Emulated { socket: socket.into(), camera: camera.to_owned() }
            }
            None if source.starts_with('/') => CameraAddress::V4l2(source.into()),
            None => return Err(form()),
        };
        Ok(Self { name: name.to_owned(), address, wish })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cameras_are_read() {
        let read = |text: &str| text.parse::<CameraChoice>();
        let front = read("front=/dev/v4l/by-id/usb-A:B-index0@1280x720@15").unwrap();
        assert_eq!(front.address, CameraAddress::V4l2("/dev/v4l/by-id/usb-A:B-index0".into()));
        assert_eq!(front.wish, CameraWish { size_px: Some([1280, 720]), hz: Some(15.0) });
        let topic = read("top=ros1:cam/color/image_raw@30").unwrap();
        assert_eq!(topic.address.to_string(), "ros1:/cam/color/image_raw");
        let own = read("front=emulated:arm.sock").unwrap().address.to_string();
        assert_eq!(own, "emulated:arm.sock:front");
        let other = read("top=emulated:/tmp/a.sock:front").unwrap();
        assert_eq!(other.address.to_string(), "emulated:/tmp/a.sock:front");
        for bad in [
            "front",
            "=/dev/video0",
            "a b=/dev/video0",
            "front=",
            "front=webcam",
            "front=/dev/video0@0x9",
            "front=/dev/video0@fast",
            "front=ros1:/a b",
        ] {
            let said = read(bad).unwrap_err();
            assert!(said.len() > 10, "{bad}: {said}");
        }
    }
}
