//! Pictures in memory: made smaller, put beside each other, written on, saved as PNG.

use crate::error::ReportError;
use crate::letters;

/// An rgb picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) rgb: Vec<u8>,
}

impl Picture {
    /// A picture of one colour.
    pub(crate) fn plain(width: usize, height: usize, color: [u8; 3]) -> Self {
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
    pub(crate) fn fitted(&self, width: usize, height: usize) -> Self {
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
    pub(crate) fn paste(&mut self, other: &Self, left: usize, top: usize) {
        for y in 0..other.height {
            for x in 0..other.width {
                self.set(left + x, top + y, other.pixel(x, y));
            }
        }
    }

    /// Pictures beside each other, with a gap between.
    pub(crate) fn beside(pictures: &[Self], gap: usize, color: [u8; 3]) -> Self {
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

    /// Writes a word in capitals, two pixels for each dot of a letter.
    pub(crate) fn write(&mut self, text: &str, left: usize, top: usize, color: [u8; 3]) {
        for (index, letter) in text.chars().enumerate() {
            for (row, dots) in letters::dots(letter).into_iter().enumerate() {
                for column in (0..5).filter(|column| dots >> (4 - column) & 1 == 1) {
                    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        let x = left + letters::WIDTH * index + 2 * column + dx;
                        self.set(x, top + 2 * row + dy, color);
                    }
                }
            }
        }
    }

    /// The picture as a PNG file in memory.
    pub(crate) fn png(&self) -> Result<Vec<u8>, ReportError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(bytes)
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
        let mut picture = Picture::plain(4, 2, [0; 3]);
        picture.set(0, 0, [200; 3]);
        let small = picture.fitted(2, 2);
        assert_eq!((small.width, small.height), (2, 1));
        assert_eq!((small.pixel(0, 0), small.pixel(1, 0)), ([50; 3], [0; 3]));
        assert_eq!(picture.fitted(100, 100), picture);
        let odd = Picture::plain(641, 479, [9; 3]).fitted(100, 100);
        assert_eq!((odd.width, odd.height), (100, 75));
        assert!(odd.rgb.iter().all(|v| *v == 9));
    }

    #[test]
    fn pictures_stand_beside_each_other() {
        let pair = [Picture::plain(2, 1, [1; 3]), Picture::plain(1, 2, [2; 3])];
        let all = Picture::beside(&pair, 1, [7; 3]);
        let row = |y| [0, 1, 2, 3].map(|x| all.pixel(x, y)[0]);
        assert_eq!((row(0), row(1)), ([1, 1, 7, 2], [7, 7, 7, 2]));
    }

    #[test]
    fn words_leave_ink_and_stay_inside() {
        let mut sheet = Picture::plain(30, 16, [255; 3]);
        sheet.write("I_1 and more", 0, 0, [0; 3]);
        assert_eq!((sheet.pixel(4, 0), sheet.pixel(0, 4)), ([0; 3], [255; 3]));
        assert_eq!(sheet.rgb.len(), 30 * 16 * 3);
    }

    #[test]
    fn a_png_comes_back() {
        let picture = Picture::plain(3, 2, [10, 20, 30]);
        let bytes = picture.png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut rgb).unwrap();
        assert_eq!(rgb, picture.rgb);
    }
}
