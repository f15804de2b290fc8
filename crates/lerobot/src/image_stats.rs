//! Statistics of a camera over an episode: a histogram per channel, cheap enough to keep while
//! recording, and exact about the pixels it looked at.

use citrange_core::png;
use serde::{Deserialize, Serialize};

use crate::stats::{FeatureStats, QUANTILES};

/// Pictures larger than this on their longer side are looked at with a stride.
const FULL_LOOK_BELOW_PX: usize = 300;
/// The stride leaves about this many pixels on the longer side.
const SAMPLES_ACROSS: usize = 150;

/// Histograms of red, green and blue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageStats {
    /// Frames added.
    frames: u64,
    /// 256 counts for each of the three channels.
    histograms: [Vec<u64>; 3],
}

impl Default for ImageStats {
    fn default() -> Self {
        Self { frames: 0, histograms: std::array::from_fn(|_| vec![0; 256]) }
    }
}

impl ImageStats {
    /// Without frames.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Frames added.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Adds a picture: rows of `width` pixels, three bytes each. Rows that are not there are not
    /// counted.
    pub fn add_rgb(&mut self, rgb: &[u8], width: usize, height: usize) {
        self.frames += 1;
        let longer = width.max(height);
        let stride = if longer < FULL_LOOK_BELOW_PX { 1 } else { (longer / SAMPLES_ACROSS).max(1) };
        let row_bytes = width.saturating_mul(3);
        if row_bytes == 0 {
            return;
        }
        // Two sets of counters in turn: equal neighbours would wait for each other otherwise.
        let mut counts = [[[0u32; 256]; 3]; 2];
        for row in rgb.chunks_exact(row_bytes).take(height).step_by(stride) {
            for (at, pixel) in row.chunks(3 * stride).enumerate() {
                if let [r, g, b, ..] = *pixel {
                    let set = &mut counts[at % 2];
                    set[0][usize::from(r)] += 1;
                    set[1][usize::from(g)] += 1;
                    set[2][usize::from(b)] += 1;
                }
            }
        }
        for set in &counts {
            for (histogram, counts) in self.histograms.iter_mut().zip(set) {
                for (total, n) in histogram.iter_mut().zip(counts) {
                    *total += u64::from(*n);
                }
            }
        }
    }

    /// Statistics of pictures kept as PNG files; nothing when one cannot be decoded as rgb.
    pub(crate) fn of_png(pictures: &[Vec<u8>]) -> Option<Self> {
        let mut stats = Self::new();
        for bytes in pictures {
            let picture = png::decode(bytes).ok()?;
            stats.add_rgb(&picture.rgb, picture.width, picture.height);
        }
        Some(stats)
    }

    /// Adds everything another one saw.
    pub fn merge(&mut self, other: &Self) {
        self.frames += other.frames;
        for (mine, theirs) in self.histograms.iter_mut().zip(&other.histograms) {
            for (a, b) in mine.iter_mut().zip(theirs) {
                *a += b;
            }
        }
    }

    /// Statistics with values 0..1 per channel; `count` is the number of frames. Nothing before
    /// the first pixel, or when the histograms (read from outside) do not have 256 bins.
    #[must_use]
    pub fn finish(&self) -> Option<FeatureStats> {
        let mut stats = FeatureStats { count: self.frames, ..FeatureStats::default() };
        let mut quantiles: [Vec<f64>; 5] = Default::default();
        for histogram in &self.histograms {
            if histogram.len() != 256 {
                return None;
            }
            let total = histogram.iter().try_fold(0u64, |sum, n| sum.checked_add(*n))?;
            let low = histogram.iter().position(|n| *n > 0)?;
            let high = histogram.iter().rposition(|n| *n > 0)?;
            let moment = |f: &dyn Fn(f64) -> f64| {
                let sum: f64 = histogram
                    .iter()
                    .enumerate()
                    .map(|(v, n)| f(v as f64 / 255.0) * *n as f64)
                    .sum();
                sum / total as f64
            };
            let mean = moment(&|x| x);
            stats.min.push(low as f64 / 255.0);
            stats.max.push(high as f64 / 255.0);
            stats.mean.push(mean);
            stats.std.push(moment(&|x| (x - mean) * (x - mean)).sqrt());
            for (list, (_, q)) in quantiles.iter_mut().zip(QUANTILES) {
                list.push(quantile_of_histogram(histogram, total, q) / 255.0);
            }
        }
        stats.quantiles = Some(quantiles);
        Some(stats)
    }
}

/// The quantile of the pixels as if they were sorted, between neighbours by linear interpolation.
fn quantile_of_histogram(histogram: &[u64], total: u64, q: f64) -> f64 {
    let position = q * (total - 1) as f64;
    let value_at = |rank: u64| {
        let mut seen = 0;
        histogram
            .iter()
            .position(|n| {
                seen += n;
                seen > rank
            })
            .unwrap_or(255) as f64
    };
    let low = position.floor();
    let (a, b) = (value_at(low as u64), value_at((low as u64 + 1).min(total - 1)));
    a + (position - low) * (b - a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Column;
    use proptest::prelude::*;

    #[test]
    fn png_files_count_like_their_pictures() {
        let rgb: Vec<u8> = (0..32 * 16 * 3).map(|i| (i * 7 % 251) as u8).collect();
        let bytes = png::encode(&rgb, 32, 16, png::PngEffort::Fast).unwrap();
        let mut plain = ImageStats::new();
        plain.add_rgb(&rgb, 32, 16);
        let read = ImageStats::of_png(std::slice::from_ref(&bytes)).unwrap();
        assert_eq!(read.finish(), plain.finish());
        assert!(ImageStats::of_png(&[bytes[..40].to_vec()]).is_none());
    }

    proptest! {
        #[test]
        fn histograms_give_what_the_pixels_give(
            pixels in proptest::collection::vec(any::<u8>(), 12..300)
        ) {
            let pixels = &pixels[..pixels.len() / 3 * 3];
            let mut stats = ImageStats::new();
            stats.add_rgb(pixels, pixels.len() / 3, 1);
            let got = stats.finish().unwrap();
            let values = pixels.iter().map(|p| f64::from(*p) / 255.0).collect();
            let want = FeatureStats::of(&Column::F64(values), 3).unwrap();
            for name in ["min", "max", "mean", "std", "q01", "q10", "q50", "q90", "q99"] {
                for (a, b) in got.list(name).unwrap().iter().zip(want.list(name).unwrap()) {
                    prop_assert!((a - b).abs() < 1e-12, "{} {} {}", name, a, b);
                }
            }
        }
    }

    #[test]
    fn large_pictures_are_sampled_and_counts_are_frames() {
        let (w, h) = (640, 480);
        let mut rgb = vec![0u8; w * h * 3];
        // What the stride of 4 does not touch must not be seen; pixel (4, 4) must.
        rgb[(w + 1) * 3] = 200;
        rgb[(4 * w + 4) * 3 + 1] = 100;
        let mut stats = ImageStats::new();
        stats.add_rgb(&rgb, w, h);
        stats.add_rgb(&rgb, w, h);
        assert_eq!(stats.histograms[0].iter().sum::<u64>(), 2 * 160 * 120);
        let done = stats.finish().unwrap();
        assert_eq!(done.count, 2);
        assert_eq!(done.max, [0.0, 100.0 / 255.0, 0.0]);
        let mut twice = stats.clone();
        twice.merge(&stats);
        assert_eq!(twice.finish().unwrap().mean, done.mean);
        assert_eq!(twice.frames(), 4);
        let text = serde_json::to_string(&stats).unwrap();
        assert_eq!(serde_json::from_str::<ImageStats>(&text).unwrap(), stats);
    }

    #[test]
    fn noise_has_the_spread_of_noise() {
        // Squares of bytes that wrap would give about 0 here.
        let pixels: Vec<u8> = (0..=255u8).flat_map(|v| [v, v, v]).collect();
        let mut stats = ImageStats::new();
        stats.add_rgb(&pixels, 256, 1);
        assert!((stats.finish().unwrap().std[0] - 0.2898).abs() < 1e-3);
    }

    #[test]
    fn no_pixels_no_statistics() {
        assert_eq!(ImageStats::new().finish(), None);
        let mut short = ImageStats::new();
        short.add_rgb(&[1, 2], 4, 4);
        assert_eq!(short.finish(), None);
    }
}
