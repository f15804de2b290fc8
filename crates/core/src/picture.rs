//! Pictures that several hold at once, and that may still be in the making: the loop goes on
//! while one thread draws them and another codes them.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// Why there are no pixels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// Drawing it failed.
    #[error("the picture could not be drawn: {0}")]
    Failed(String),
    /// The drawer was too far behind, and the loop could not wait.
    #[error("the picture was left out: drawing was too far behind")]
    LeftOut,
    /// Whoever was to draw it gave up without a word.
    #[error("the picture was never drawn: its drawer ended first")]
    Lost,
}

type Pixels = Result<Vec<u8>, PictureError>;

/// An rgb8 picture, row by row. A handle: clones show the same pixels, which may be drawn later
/// than the handle is given out. Holding on to it costs nothing but its memory.
#[derive(Clone)]
pub struct Picture(Arc<OnceLock<Pixels>>);

impl Picture {
    /// A picture that exists already.
    #[must_use]
    pub fn ready(rgb: Vec<u8>) -> Self {
        Self(Arc::new(OnceLock::from(Ok(rgb))))
    }

    /// The pixels; waits until they are drawn. Not for a loop that keeps time.
    ///
    /// # Errors
    /// When the picture could not be drawn.
    pub fn pixels(&self) -> Result<&[u8], PictureError> {
        match self.0.wait() {
            Ok(rgb) => Ok(rgb),
            Err(error) => Err(error.clone()),
        }
    }

    /// A picture that is not drawn, because the drawer is too far behind.
    #[must_use]
    pub fn left_out() -> Self {
        Self(Arc::new(OnceLock::from(Err(PictureError::LeftOut))))
    }

    /// Whether it was left out.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        matches!(self.0.get(), Some(Err(PictureError::LeftOut)))
    }

    /// Whether [`Picture::pixels`] answers at once.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.get().is_some()
    }
}

/// Equal pixels. Waits for both.
impl PartialEq for Picture {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.wait() == other.0.wait()
    }
}

/// Never waits.
impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.get() {
            Some(Ok(rgb)) => write!(f, "Picture({} bytes)", rgb.len()),
            Some(Err(error)) => write!(f, "Picture({error})"),
            None => f.write_str("Picture(not drawn yet)"),
        }
    }
}

/// A picture that somebody has yet to draw. Dropped undrawn, it tells those who wait for it.
#[derive(Debug)]
pub struct Undrawn {
    picture: Picture,
    rgb: Vec<u8>,
}

impl Undrawn {
    /// Where to draw. Its length and bytes are those of an older picture.
    pub fn rgb_mut(&mut self) -> &mut Vec<u8> {
        &mut self.rgb
    }

    /// It is drawn: whoever waits gets the pixels.
    pub fn finish(mut self) {
        let rgb = std::mem::take(&mut self.rgb);
        self.settle(Ok(rgb));
    }

    /// It cannot be drawn: whoever waits gets the reason.
    pub fn fail(self, reason: impl fmt::Display) {
        self.settle(Err(PictureError::Failed(reason.to_string())));
    }

    fn settle(&self, pixels: Pixels) {
        // Only this can settle it, and the first word stands: the drop that follows says nothing.
        let _settled_before = self.picture.0.set(pixels);
    }
}

impl Drop for Undrawn {
    fn drop(&mut self) {
        self.settle(Err(PictureError::Lost));
    }
}

/// Buffers for pictures of one camera, used again when nobody holds them any more.
#[derive(Clone, Debug, Default)]
pub struct PicturePool {
    pictures: Vec<Picture>,
}

impl PicturePool {
    /// A picture with these bytes.
    pub fn fill(&mut self, rgb: &[u8]) -> Picture {
        let (picture, mut undrawn) = self.order();
        undrawn.rgb.clear();
        undrawn.rgb.extend_from_slice(rgb);
        undrawn.finish();
        picture
    }

    /// A picture to hand out, and its other end for whoever draws it.
    pub fn order(&mut self) -> (Picture, Undrawn) {
        let free = self.pictures.iter_mut().find_map(|picture| {
            let old = Arc::get_mut(&mut picture.0)?.take();
            Some((picture.clone(), old.and_then(Result::ok).unwrap_or_default()))
        });
        let (picture, rgb) = free.unwrap_or_else(|| {
            let new = Picture(Arc::new(OnceLock::new()));
            self.pictures.push(new.clone());
            (new, Vec::new())
        });
        (picture.clone(), Undrawn { picture, rgb })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn held_pictures_stay_and_free_ones_are_used_again() {
        let mut pool = PicturePool::default();
        let first = pool.fill(&[1, 2, 3]);
        let second = pool.fill(&[4, 5, 6]);
        assert_eq!(first.pixels(), Ok(&[1, 2, 3][..]));
        let (handle, bytes) = (Arc::as_ptr(&first.0), first.pixels().unwrap().as_ptr());
        drop(first);
        let third = pool.fill(&[7]);
        assert_eq!((Arc::as_ptr(&third.0), pool.pictures.len()), (handle, 2));
        assert_eq!(third.pixels().unwrap().as_ptr(), bytes, "the bytes' memory is used again");
        assert_eq!((third.pixels(), second.pixels()), (Ok(&[7][..]), Ok(&[4, 5, 6][..])));
    }

    #[test]
    fn a_picture_in_the_making_is_not_given_out_again() {
        let mut pool = PicturePool::default();
        let (picture, undrawn) = pool.order();
        // Nobody waits for it, but somebody draws it.
        drop(picture);
        let (other, _drawn_later) = pool.order();
        assert!(!other.is_ready());
        undrawn.finish();
        assert!(!other.is_ready());
        assert_eq!(pool.pictures.len(), 2);
    }

    #[test]
    fn who_needs_pixels_waits_for_them() {
        let (picture, mut undrawn) = PicturePool::default().order();
        assert!(!picture.is_ready());
        assert_eq!(format!("{picture:?}"), "Picture(not drawn yet)");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| picture.pixels().map(<[u8]>::to_vec));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            undrawn.rgb_mut().extend([9, 8, 7]);
            undrawn.finish();
            assert_eq!(waiting.join().unwrap(), Ok(vec![9, 8, 7]));
        });
        assert!(picture.is_ready());
        assert_eq!(picture, Picture::ready(vec![9, 8, 7]));
        assert_ne!(picture, Picture::ready(vec![9, 8, 6]));
    }

    #[test]
    fn a_drawer_that_fails_or_dies_leaves_nobody_waiting() {
        let mut pool = PicturePool::default();
        let (picture, undrawn) = pool.order();
        undrawn.fail("no paint");
        assert_eq!(picture.pixels(), Err(PictureError::Failed("no paint".into())));
        let (lost, undrawn) = pool.order();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| lost.pixels().map(<[u8]>::to_vec));
            let drawer = scope.spawn(move || {
                let _held = undrawn;
                std::thread::sleep(Duration::from_millis(20));
                std::panic::resume_unwind(Box::new("dies"));
            });
            assert!(drawer.join().is_err());
            assert_eq!(waiting.join().unwrap(), Err(PictureError::Lost));
        });
        // What failed is drawn anew.
        drop(picture);
        assert_eq!(pool.fill(&[1]).pixels(), Ok(&[1][..]));
    }
}
