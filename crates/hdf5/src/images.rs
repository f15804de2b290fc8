//! Pictures of a camera over time, in memory, on disk, or made on demand.

use std::fmt;
use std::sync::Arc;

use crate::Hdf5Error;

/// Delivers picture `index` into the buffer given.
type FillFn = dyn Fn(usize, &mut [u8]) -> Result<(), Hdf5Error> + Send + Sync;

/// Pictures of one camera: `frames` times height, width, channels, a byte each.
///
/// Whole episodes of pictures are large, so they are asked for one at a time, wherever they lie.
/// Cloning is cheap.
#[derive(Clone)]
pub struct Images {
    frames: usize,
    size: [usize; 3],
    fill: Arc<FillFn>,
}

impl Images {
    /// Rgb pictures that are in memory, in the order frame, row, column, channel.
    ///
    /// # Errors
    /// When the bytes are not `frames * height * width * 3`.
    pub fn from_rgb(
        frames: usize,
        height: usize,
        width: usize,
        rgb: Vec<u8>,
    ) -> Result<Self, Hdf5Error> {
        let size = [height, width, 3];
        let bytes = frame_bytes(size)?;
        if frames.checked_mul(bytes) != Some(rgb.len()) {
            let wanted = format!("{frames} frames of {height} x {width} x 3");
            return Err(Hdf5Error::shape("images", format!("{} bytes", rgb.len()), wanted));
        }
        let fill = move |index: usize, out: &mut [u8]| {
            let start = index * bytes;
            out.copy_from_slice(&rgb[start..start + bytes]);
            Ok(())
        };
        Ok(Self { frames, size, fill: Arc::new(fill) })
    }

    /// Rgb pictures made one at a time: `fill(index, buffer)` writes height * width * 3 bytes.
    /// A text that it returns says why a picture is not there.
    ///
    /// # Errors
    /// When a picture would be larger than memory can be.
    pub fn from_fn(
        frames: usize,
        height: usize,
        width: usize,
        fill: impl Fn(usize, &mut [u8]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Result<Self, Hdf5Error> {
        let fill = move |frame: usize, out: &mut [u8]| {
            fill(frame, out).map_err(|why| Hdf5Error::Frame { object: "images".into(), frame, why })
        };
        Self::with_source(frames, [height, width, 3], fill)
    }

    pub(crate) fn with_source(
        frames: usize,
        size: [usize; 3],
        fill: impl Fn(usize, &mut [u8]) -> Result<(), Hdf5Error> + Send + Sync + 'static,
    ) -> Result<Self, Hdf5Error> {
        frame_bytes(size)?;
        Ok(Self { frames, size, fill: Arc::new(fill) })
    }

    /// Number of pictures.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Rows of pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.size[0]
    }

    /// Pixels in a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.size[1]
    }

    /// Bytes of a pixel; 3 for rgb.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.size[2]
    }

    /// Bytes of a picture.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        self.size.iter().product()
    }

    /// Picture `index`.
    ///
    /// # Errors
    /// When there is no such picture or its source fails.
    pub fn frame(&self, index: usize) -> Result<Vec<u8>, Hdf5Error> {
        let mut out = vec![0; self.frame_bytes()];
        self.read_frame(index, &mut out)?;
        Ok(out)
    }

    /// Picture `index` into a buffer of [`Images::frame_bytes`] bytes.
    ///
    /// # Errors
    /// When there is no such picture, the buffer has another length, or the source fails.
    pub fn read_frame(&self, index: usize, out: &mut [u8]) -> Result<(), Hdf5Error> {
        if index >= self.frames {
            let why = format!("there are {} frames", self.frames);
            return Err(Hdf5Error::Frame { object: "images".into(), frame: index, why });
        }
        if out.len() != self.frame_bytes() {
            let wanted = format!("{} bytes", self.frame_bytes());
            return Err(Hdf5Error::shape("frame buffer", format!("{} bytes", out.len()), wanted));
        }
        (self.fill)(index, out)
    }
}

fn frame_bytes(size: [usize; 3]) -> Result<usize, Hdf5Error> {
    // A picture is one chunk on disk, whose length is a u32.
    let bytes = size.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    bytes.filter(|&n| n > 0 && u32::try_from(n).is_ok()).ok_or_else(|| {
        Hdf5Error::shape("images", format!("{size:?} pixels"), "1 byte to 4 GB in a picture")
    })
}

impl fmt::Debug for Images {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [height, width, channels] = self.size;
        write!(f, "Images({} x {height} x {width} x {channels})", self.frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_one_at_a_time() {
        let images = Images::from_rgb(2, 1, 2, (0..12).collect()).unwrap();
        assert_eq!(images.frame(1).unwrap(), [6, 7, 8, 9, 10, 11]);
        assert!(images.frame(2).unwrap_err().to_string().contains("there are 2 frames"));
        assert!(images.read_frame(0, &mut [0; 5]).is_err());
        let made = Images::from_fn(3, 1, 1, |k, out| {
            out.fill(k as u8);
            if k < 2 { Ok(()) } else { Err("camera unplugged".into()) }
        })
        .unwrap();
        assert_eq!(made.frame(1).unwrap(), [1, 1, 1]);
        assert!(made.frame(2).unwrap_err().to_string().contains("camera unplugged"));
    }

    #[test]
    fn sizes_must_fit() {
        assert!(Images::from_rgb(2, 1, 2, vec![0; 11]).is_err());
        assert!(Images::from_fn(1, usize::MAX, 2, |_, _| Ok(())).is_err());
        assert!(Images::from_fn(1, 0, 2, |_, _| Ok(())).is_err());
    }
}
