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

type Pixels<T> = Result<Vec<T>, PictureError>;

/// A picture, row by row. A handle: clones show the same pixels, which may be drawn later than the
/// handle is given out. Holding on to it costs nothing but its memory.
pub struct Image<T>(Arc<OnceLock<Pixels<T>>>);

/// An rgb8 picture: three bytes per pixel.
pub type Picture = Image<u8>;

/// Depths in metres along the optical axis, one per pixel; infinite or NaN where nothing was
/// measured.
pub type DepthPicture = Image<f32>;

impl<T> Clone for Image<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Image<T> {
    /// A picture that exists already.
    #[must_use]
    pub fn ready(pixels: Vec<T>) -> Self {
        Self(Arc::new(OnceLock::from(Ok(pixels))))
    }

    /// The pixels; waits until they are drawn. Not for a loop that keeps time.
    ///
    /// # Errors
    /// When the picture could not be drawn.
    pub fn pixels(&self) -> Result<&[T], PictureError> {
        match self.0.wait() {
            Ok(pixels) => Ok(pixels),
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

    /// Whether [`Image::pixels`] answers at once.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.get().is_some()
    }
}

/// Equal pixels. Waits for both.
impl<T: PartialEq> PartialEq for Image<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.wait() == other.0.wait()
    }
}

/// Never waits.
impl<T> fmt::Debug for Image<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.get() {
            Some(Ok(pixels)) => write!(f, "Image({} numbers)", pixels.len()),
            Some(Err(error)) => write!(f, "Image({error})"),
            None => f.write_str("Image(not drawn yet)"),
        }
    }
}

/// A picture that somebody has yet to draw. Dropped undrawn, it tells those who wait for it.
#[derive(Debug)]
pub struct Undrawn<T = u8> {
    image: Image<T>,
    pixels: Vec<T>,
}

impl<T> Undrawn<T> {
    /// Where to draw. Its length and contents are those of an older picture.
    pub fn pixels_mut(&mut self) -> &mut Vec<T> {
        &mut self.pixels
    }

    /// It is drawn: whoever waits gets the pixels.
    pub fn finish(mut self) {
        let pixels = std::mem::take(&mut self.pixels);
        self.settle(Ok(pixels));
    }

    /// It cannot be drawn: whoever waits gets the reason.
    pub fn fail(self, reason: impl fmt::Display) {
        self.settle(Err(PictureError::Failed(reason.to_string())));
    }

    fn settle(&self, pixels: Pixels<T>) {
        // Only this can settle it, and the first word stands: the drop that follows says nothing.
        let _settled_before = self.image.0.set(pixels);
    }
}

impl<T> Drop for Undrawn<T> {
    fn drop(&mut self) {
        self.settle(Err(PictureError::Lost));
    }
}

/// Buffers for pictures of one camera, used again when nobody holds them any more.
#[derive(Debug)]
pub struct ImagePool<T> {
    images: Vec<Image<T>>,
}

/// Buffers for rgb pictures.
pub type PicturePool = ImagePool<u8>;

impl<T> Default for ImagePool<T> {
    fn default() -> Self {
        Self { images: Vec::new() }
    }
}

impl<T> Clone for ImagePool<T> {
    fn clone(&self) -> Self {
        Self { images: self.images.clone() }
    }
}

impl<T: Clone> ImagePool<T> {
    /// A picture with these pixels.
    pub fn fill(&mut self, pixels: &[T]) -> Image<T> {
        let (image, mut undrawn) = self.order();
        undrawn.pixels.clear();
        undrawn.pixels.extend_from_slice(pixels);
        undrawn.finish();
        image
    }
}

impl<T> ImagePool<T> {
    /// A picture to hand out, and its other end for whoever draws it.
    pub fn order(&mut self) -> (Image<T>, Undrawn<T>) {
        let free = self.images.iter_mut().find_map(|image| {
            let old = Arc::get_mut(&mut image.0)?.take();
            Some((image.clone(), old.and_then(Result::ok).unwrap_or_default()))
        });
        let (image, pixels) = free.unwrap_or_else(|| {
            let new = Image(Arc::new(OnceLock::new()));
            self.images.push(new.clone());
            (new, Vec::new())
        });
        (image.clone(), Undrawn { image, pixels })
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
        assert_eq!((Arc::as_ptr(&third.0), pool.images.len()), (handle, 2));
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
        assert_eq!(pool.images.len(), 2);
    }

    #[test]
    fn who_needs_pixels_waits_for_them() {
        let (picture, mut undrawn) = PicturePool::default().order();
        assert!(!picture.is_ready());
        assert_eq!(format!("{picture:?}"), "Image(not drawn yet)");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| picture.pixels().map(<[u8]>::to_vec));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            undrawn.pixels_mut().extend([9, 8, 7]);
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
