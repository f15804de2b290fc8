//! Pictures that several hold at once: the tape codes one while the rig takes the next.

use std::sync::Arc;

/// An rgb8 picture, row by row. Holding on to it costs nothing but its memory.
pub type Picture = Arc<Vec<u8>>;

/// Buffers for pictures of one camera, used again when nobody holds them any more.
#[derive(Clone, Debug, Default)]
pub struct PicturePool {
    buffers: Vec<Picture>,
}

impl PicturePool {
    /// A picture with these bytes.
    pub fn fill(&mut self, rgb: &[u8]) -> Picture {
        let free = self.buffers.iter_mut().find_map(|buffer| {
            let bytes = Arc::get_mut(buffer)?;
            bytes.clear();
            bytes.extend_from_slice(rgb);
            Some(Arc::clone(buffer))
        });
        free.unwrap_or_else(|| {
            let new = Arc::new(rgb.to_vec());
            self.buffers.push(Arc::clone(&new));
            new
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_pictures_stay_and_free_ones_are_used_again() {
        let mut pool = PicturePool::default();
        let first = pool.fill(&[1, 2, 3]);
        let second = pool.fill(&[4, 5, 6]);
        assert_eq!((first.as_slice(), second.as_slice()), (&[1, 2, 3][..], &[4, 5, 6][..]));
        let place = Arc::as_ptr(&first);
        drop(first);
        let third = pool.fill(&[7]);
        assert_eq!((Arc::as_ptr(&third), pool.buffers.len()), (place, 2));
        assert_eq!(*second, [4, 5, 6]);
    }
}
