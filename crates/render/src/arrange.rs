//! Pictures made smaller and put beside each other.

use crate::image::Image;

impl Image {
    /// A picture of one colour.
    #[must_use]
    pub fn plain(width: usize, height: usize, color: [u8; 3]) -> Self {
        Self { width, height, rgb: color.repeat(width * height) }
    }

    fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = 3 * (y * self.width + x);
        match self.rgb.get(at..at + 3) {
            Some(&[r, g, b]) => [r, g, b],
            _ => [0; 3],
        }
    }

    fn set(&mut self, x: usize, y: usize, color: [u8; 3]) {
        let at = 3 * (y * self.width + x);
        if x < self.width
            && let Some(pixel) = self.rgb.get_mut(at..at + 3)
        {
            pixel.copy_from_slice(&color);
        }
    }

    /// The picture as large as it fits into a box, in its own shape, by averaging pixels; never
    /// larger than it is.
    #[must_use]
    pub fn fitted(&self, width: usize, height: usize) -> Self {
        if self.width <= width && self.height <= height || self.rgb.is_empty() {
            return self.clone();
        }
        let scale = (width as f64 / self.width as f64).min(height as f64 / self.height as f64);
        let side = |length: usize| ((length as f64 * scale).round() as usize).max(1);
        let mut small = Self::plain(side(self.width), side(self.height), [0; 3]);
        for y in 0..small.height {
            let rows = part(y, small.height, self.height);
            for x in 0..small.width {
                let columns = part(x, small.width, self.width);
                let mut sum = [0_usize; 3];
                for row in rows.clone() {
                    for column in columns.clone() {
                        let pixel = self.pixel(column, row);
                        sum.iter_mut().zip(pixel).for_each(|(s, p)| *s += usize::from(p));
                    }
                }
                let count = rows.len() * columns.len();
                small.set(x, y, sum.map(|s| ((s + count / 2) / count) as u8));
            }
        }
        small
    }

    /// Puts another picture onto this one; what does not fit is cut off.
    pub fn paste(&mut self, other: &Self, left: usize, top: usize) {
        for y in 0..other.height {
            for x in 0..other.width {
                self.set(left + x, top + y, other.pixel(x, y));
            }
        }
    }

    /// Pictures beside each other, with a gap between.
    #[must_use]
    pub fn beside(pictures: &[Self], gap: usize, color: [u8; 3]) -> Self {
        let height = pictures.iter().map(|p| p.height).max().unwrap_or(1);
        let width: usize = pictures.iter().map(|p| p.width).sum();
        let width = width + gap * pictures.len().saturating_sub(1);
        let mut all = Self::plain(width.max(1), height, color);
        let mut left = 0;
        for picture in pictures {
            all.paste(picture, left, 0);
            left += picture.width + gap;
        }
        all
    }
}

/// The pixels of a long side that belong to pixel `at` of a short one: at least one.
fn part(at: usize, of: usize, long: usize) -> std::ops::Range<usize> {
    let from = at * long / of;
    from..((at + 1) * long / of).max(from + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_pictures_are_averages_and_keep_their_shape() {
        let mut picture = Image::plain(4, 2, [0; 3]);
        picture.set(0, 0, [200; 3]);
        let small = picture.fitted(2, 2);
        assert_eq!((small.width, small.height), (2, 1));
        assert_eq!((small.pixel(0, 0), small.pixel(1, 0)), ([50; 3], [0; 3]));
        assert_eq!(picture.fitted(100, 100), picture);
        let odd = Image::plain(641, 479, [9; 3]).fitted(100, 100);
        assert_eq!((odd.width, odd.height), (100, 75));
        assert!(odd.rgb.iter().all(|v| *v == 9));
    }

    #[test]
    fn pictures_stand_beside_each_other() {
        let pair = [Image::plain(2, 1, [1; 3]), Image::plain(1, 2, [2; 3])];
        let all = Image::beside(&pair, 1, [7; 3]);
        let row = |y| [0, 1, 2, 3].map(|x| all.pixel(x, y)[0]);
        assert_eq!((row(0), row(1)), ([1, 1, 7, 2], [7, 7, 7, 2]));
    }
}
