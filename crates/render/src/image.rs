//! Pictures as files: colours, distances, ids, sheets of many.

use std::path::{Path, PathBuf};

use citrange_core::png::{self, PngEffort, PngError};

use crate::settings::Frame;

/// A file of a picture that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", .path.display())]
pub struct ImageError {
    /// The file, or the folder that it should be in.
    pub path: PathBuf,
    /// The system's reason.
    pub source: std::io::Error,
}

/// An rgb picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes for each pixel, row by row.
    pub rgb: Vec<u8>,
}

impl Image {
    /// A black picture.
    #[must_use]
    pub fn black(width: usize, height: usize) -> Self {
        Self { width, height, rgb: vec![0; 3 * width * height] }
    }

    /// The colours of a frame.
    #[must_use]
    pub fn colors(frame: &Frame) -> Self {
        Self { width: frame.width, height: frame.height, rgb: frame.rgb.clone() }
    }

    /// Distances from near (warm) to far (cold); black where nothing is.
    #[must_use]
    pub fn distances(frame: &Frame) -> Self {
        let finite = frame.depth.iter().copied().filter(|d| d.is_finite());
        let near = finite.clone().fold(f32::INFINITY, f32::min);
        // Beyond five times the nearest everything is far: a floor without end would flatten it.
        let far = finite.fold(near, f32::max).min(5.0 * near);
        let color = |d: f32| {
            if d.is_infinite() {
                return [0, 0, 0];
            }
            let t = ((d - near) / (far - near).max(1e-6)).clamp(0.0, 1.0);
            let bump = |center: f32| (1.5 - (4.0 * t - center).abs()).clamp(0.0, 1.0);
            [bump(1.0), bump(2.0), bump(3.0)].map(|c| (255.0 * c) as u8)
        };
        let rgb = frame.depth.iter().flat_map(|d| color(*d)).collect();
        Self { width: frame.width, height: frame.height, rgb }
    }

    /// A colour of its own for every id; black where nothing is.
    #[must_use]
    pub fn ids(frame: &Frame) -> Self {
        let color = |id: i32| {
            if id < 0 {
                return [0, 0, 0];
            }
            // Neighbouring numbers get far colours: multiples of the golden angle around the hue.
            let hue = (id as f32 * 0.618_034).fract() * 6.0;
            let channel = |shift: f32| {
                let h = (hue + shift) % 6.0;
                (255.0 * (0.35 + 0.65 * (2.0 - (h - 3.0).abs()).clamp(0.0, 1.0))) as u8
            };
            [channel(3.0), channel(1.0), channel(5.0)]
        };
        let rgb = frame.ids.iter().flat_map(|id| color(*id)).collect();
        Self { width: frame.width, height: frame.height, rgb }
    }

    /// Pictures side by side in rows; smaller ones are padded with black.
    #[must_use]
    pub fn sheet(images: &[Self], columns: usize) -> Self {
        let columns = columns.clamp(1, images.len().max(1));
        let width = images.iter().map(|i| i.width).max().unwrap_or(1);
        let height = images.iter().map(|i| i.height).max().unwrap_or(1);
        let rows = images.len().div_ceil(columns);
        let mut sheet = Self {
            width: width * columns,
            height: height * rows,
            rgb: vec![0; 3 * width * columns * height * rows],
        };
        for (index, image) in images.iter().enumerate() {
            let (left, top) = (index % columns * width, index / columns * height);
            for (y, row) in image.rgb.chunks_exact(3 * image.width).enumerate() {
                let at = 3 * ((top + y) * sheet.width + left);
                sheet.rgb[at..at + row.len()].copy_from_slice(row);
            }
        }
        sheet
    }

    /// Writes a PNG file, and its folder where there is none.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ImageError> {
        let fail = |path: &Path| {
            let path = path.to_owned();
            move |source| ImageError { path, source }
        };
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(fail(folder))?;
        }
        let bytes = self.png(PngEffort::Fast).map_err(|e| fail(path)(std::io::Error::other(e)))?;
        std::fs::write(path, bytes).map_err(fail(path))
    }

    /// The picture as a PNG file in memory.
    ///
    /// # Errors
    /// When it has no pixels.
    pub fn png(&self, effort: PngEffort) -> Result<Vec<u8>, PngError> {
        png::encode(&self.rgb, self.width, self.height, effort)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(width: usize, height: usize, value: u8) -> Image {
        Image { width, height, rgb: vec![value; 3 * width * height] }
    }

    #[test]
    fn sheets_place_pictures_in_rows() {
        let sheet = Image::sheet(&[plain(2, 2, 10), plain(2, 2, 20), plain(2, 2, 30)], 2);
        assert_eq!((sheet.width, sheet.height), (4, 4));
        assert_eq!([sheet.rgb[0], sheet.rgb[6], sheet.rgb[24], sheet.rgb[30]], [10, 20, 30, 0]);
    }

    #[test]
    fn distances_and_ids_mark_nothing_black() {
        let frame = Frame {
            width: 2,
            height: 1,
            rgb: vec![0; 6],
            depth: vec![1.0, f32::INFINITY],
            ids: vec![3, -1],
        };
        assert_eq!(Image::distances(&frame).rgb[3..], [0, 0, 0]);
        assert_eq!(Image::ids(&frame).rgb[3..], [0, 0, 0]);
        assert_ne!(Image::ids(&frame).rgb[..3], [0, 0, 0]);
    }
}
