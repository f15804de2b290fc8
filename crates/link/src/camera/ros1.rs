//! Pictures of a topic of ROS 1: `sensor_msgs/Image`, or where its name ends in `compressed` JPEGs of
//! `sensor_msgs/CompressedImage`.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use citrange_ros::message::{CompressedImage, Image, Time};
use citrange_ros::{LARGE_MESSAGE, Node, NodeSettings, Subscription};

use super::{CameraMode, CameraSource, CameraWish, PixelFormat, RawPicture};
use crate::error::LinkError;

/// How long the first pictures may take, and how many tell the rate.
const FIRST_WITHIN: Duration = Duration::from_secs(5);
const FOR_RATE: u64 = 4;
/// A stamp that is older is of another clock.
const SAME_CLOCK_NS: u64 = 1_000_000_000;
/// How far a rate may be from what was asked for.
const SAME_RATE: f64 = 0.2;

#[derive(Default)]
struct Newest {
    picture: RawPicture,
    size_px: [u32; 2],
    number: u64,
    /// When the first one and the newest were taken.
    span: Option<(Instant, Instant)>,
    /// Why pictures that come are of no use.
    wrong: Option<String>,
}

#[derive(Default)]
struct Slot {
    newest: Mutex<Newest>,
    came: Condvar,
}

impl Slot {
    fn put(&self, set: impl FnOnce(&mut Newest) -> Result<(), String>, at: Instant) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        match set(&mut newest) {
            Ok(()) => {
                newest.picture.at = at;
                newest.number += 1;
                newest.wrong = None;
                let first = newest.span.map_or(at, |(first, _)| first);
                newest.span = Some((first, at));
            }
            Err(reason) => newest.wrong = Some(reason),
        }
        drop(newest);
        self.came.notify_all();
    }
}

/// A camera behind ROS 1. Its node finds the topic again when it was away.
pub struct Ros1Camera {
    slot: Arc<Slot>,
    mode: CameraMode,
    last: u64,
    _topic: Subscription,
    _node: Node,
}

impl std::fmt::Debug for Ros1Camera {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ros1Camera").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// When a picture was taken: by its stamp where the clocks agree, else when it came.
fn taken_at(stamp: Time, came: Instant) -> Instant {
    let age_ns = Time::now().ns().saturating_sub(stamp.ns());
    match age_ns {
        0..SAME_CLOCK_NS => came.checked_sub(Duration::from_nanos(age_ns)).unwrap_or(came),
        _ => came,
    }
}

/// The rows of an image as one of our formats.
fn unpack(image: &Image, out: &mut RawPicture) -> Result<(), String> {
    let (width, height) = (image.width as usize, image.height as usize);
    let (bytes, format) = match image.encoding.as_str() {
        "rgb8" => (3, PixelFormat::Rgb8),
        "bgr8" => (3, PixelFormat::Bgr8),
        "rgba8" => (4, PixelFormat::Rgb8),
        "bgra8" => (4, PixelFormat::Bgr8),
        "mono8" => (1, PixelFormat::Rgb8),
        "yuv422_yuy2" => (2, PixelFormat::Yuyv),
        other => {
            return Err(format!(
                "its pixels are {other}; rgb8, bgr8, rgba8, bgra8, mono8 and yuv422_yuy2 are read"
            ));
        }
    };
    let (row, step) = (width * bytes, image.step as usize);
    if width == 0 || height == 0 || step < row || image.data.len() < step * (height - 1) + row {
        return Err(format!(
            "{} bytes in rows of {step} for {width}x{height} pixels of {}",
            image.data.len(),
            image.encoding
        ));
    }
    out.format = format;
    out.bytes.clear();
    for line in image.data.chunks(step).take(height).map(|line| &line[..row]) {
        match bytes {
            1 => out.bytes.extend(line.iter().flat_map(|grey| [*grey; 3])),
            4 => out
                .bytes
                .extend(line.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])),
            _ => out.bytes.extend_from_slice(line),
        }
    }
    Ok(())
}

/// The size that a JPEG's own header tells.
fn jpeg_size(bytes: &[u8]) -> Option<[u32; 2]> {
    let mut at = 2;
    loop {
        let [255, marker, high, low] = *bytes.get(at..at + 4)? else { return None };
        // Start of a frame, of whatever coding; not tables, arithmetic coding or the like.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let [h1, h0, w1, w0] = *bytes.get(at + 5..at + 9)? else { return None };
            let pair = |high, low| u32::from(u16::from_be_bytes([high, low]));
            return Some([pair(w1, w0), pair(h1, h0)]);
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
}

impl Ros1Camera {
    /// Hears a topic, on the master that ROS_MASTER_URI names.
    ///
    /// # Errors
    /// When nothing comes on it, or other pictures than were wished for.
    pub fn open(topic: &str, wish: CameraWish) -> Result<Self, LinkError> {
        let node = Node::start(NodeSettings::from_environment("citrange_camera")?)?;
        let slot = Arc::new(Slot::default());
        let filled = Arc::clone(&slot);
        let heard = if topic.ends_with("compressed") {
            node.subscribe(topic, LARGE_MESSAGE, move |image: CompressedImage, came| {
                let at = taken_at(image.header.stamp, came);
                let set = |newest: &mut Newest| {
                    let size = jpeg_size(&image.data)
                        .ok_or_else(|| format!("its pictures are {}, no JPEGs", image.format))?;
                    newest.size_px = size;
                    newest.picture.format = PixelFormat::Mjpeg;
                    newest.picture.bytes = image.data;
                    Ok(())
                };
                filled.put(set, at);
            })?
        } else {
            node.subscribe(topic, LARGE_MESSAGE, move |image: Image, came| {
                let at = taken_at(image.header.stamp, came);
                let set = |newest: &mut Newest| {
                    newest.size_px = [image.width, image.height];
                    unpack(&image, &mut newest.picture)
                };
                filled.put(set, at);
            })?
        };
        let refused = |reason: String| LinkError::CannotOpen { port: topic.to_owned(), reason };
        let end = Instant::now() + FIRST_WITHIN;
        let mut newest = slot.newest.lock().unwrap_or_else(PoisonError::into_inner);
        while newest.number < FOR_RATE {
            if let Some(wrong) = &newest.wrong {
                return Err(refused(wrong.clone()));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(newest);
                let health = heard.health();
                let why = match health.refused.first() {
                    Some(refused) => refused.clone(),
                    None if health.publishers == 0 => "nobody publishes it".to_owned(),
                    None => format!("{} pictures in 5 s", health.messages),
                };
                return Err(refused(why));
            }
            let waited = slot.came.wait_timeout(newest, left);
            newest = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let passed = newest.span.map_or(0.0, |(first, last)| (last - first).as_secs_f64());
        let hz = ((newest.number - 1) as f64 / passed.max(1e-3)).round().max(1.0);
        let [width_px, height_px] = newest.size_px;
        let mode = CameraMode { format: newest.picture.format, width_px, height_px, hz };
        drop(newest);
        let size_fits = wish.size_px.is_none_or(|size| size == [width_px, height_px]);
        if !size_fits || wish.hz.is_some_and(|wished| (wished / hz - 1.0).abs() > SAME_RATE) {
            return Err(refused(format!("it gives {mode}: its driver decides that")));
        }
        Ok(Self { slot, mode, last: 0, _topic: heard, _node: node })
    }
}

impl CameraSource for Ros1Camera {
    fn mode(&self) -> CameraMode {
        self.mode
    }

    fn next(&mut self, wait: Duration, picture: &mut RawPicture) -> Result<bool, LinkError> {
        let newest = self.slot.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let last = self.last;
        let waited =
            self.slot.came.wait_timeout_while(newest, wait, |newest| newest.number == last);
        let mut newest = waited.unwrap_or_else(PoisonError::into_inner).0;
        if newest.number == last || newest.size_px != [self.mode.width_px, self.mode.height_px] {
            return Ok(false);
        }
        self.last = newest.number;
        std::mem::swap(picture, &mut newest.picture);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(encoding: &str, step: u32, data: Vec<u8>) -> Image {
        Image { width: 2, height: 2, encoding: encoding.into(), step, data, ..Image::default() }
    }

    #[test]
    fn rows_are_cut_from_their_padding_and_pixels_from_what_is_not_seen() {
        let mut out = RawPicture::default();
        let padded = image("bgr8", 8, (0..16).collect());
        unpack(&padded, &mut out).unwrap();
        assert_eq!(out.format, PixelFormat::Bgr8);
        assert_eq!(out.bytes, [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13]);
        unpack(&image("mono8", 2, vec![1, 2, 3, 4]), &mut out).unwrap();
        assert_eq!(out.bytes, [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
        unpack(&image("rgba8", 8, (0..16).collect()), &mut out).unwrap();
        assert_eq!(out.bytes[..6], [0, 1, 2, 4, 5, 6]);
        for bad in [
            image("rgb8", 5, vec![0; 10]),
            image("rgb8", 6, vec![0; 11]),
            image("bayer_rggb8", 2, vec![0; 4]),
            Image { height: 0, ..image("rgb8", 6, vec![0; 12]) },
        ] {
            assert!(unpack(&bad, &mut out).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_jpeg_tells_its_size() {
        let bytes = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc0, 0, 17, 8, 1, 224, 2, 128, 3];
        assert_eq!(jpeg_size(&bytes), Some([640, 480]));
        (0..bytes.len() - 1).for_each(|cut| assert_eq!(jpeg_size(&bytes[..cut.min(16)]), None));
    }
}
