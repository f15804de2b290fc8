//! A depth camera that errs like a real one: an ideal depth picture becomes what a stereo camera
//! of the D435 kind would deliver.
//!
//! Stereo measures disparity, `focal * baseline / depth`, with an error of a part of a pixel
//! that does not depend on the depth. In depth that is `depth² * error / (focal * baseline)`:
//! it grows with the square of the distance. Neighbouring pixels are matched with overlapping
//! windows, so their errors are alike. At edges the window sees front and back: some pixels get
//! a depth in between (flying pixels), some none.

use citrange_cloud::Pinhole;
use citrange_core::rng::Rng;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::error::SimError;

/// What a depth camera does to an ideal picture. Shares are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DepthSensor {
    /// Distance between the two imagers.
    pub baseline_m: f64,
    /// Standard deviation of the disparity, in pixels.
    pub subpixel: f64,
    /// Part of the error's variance that is shared by the nine pixels around; direct neighbours
    /// have two thirds of it in common.
    pub correlation: f64,
    /// Steps that disparities come in, in pixels; 0 for none.
    pub disparity_step: f64,
    /// Nothing is seen nearer than this.
    pub min_m: f64,
    /// Nothing is seen further than this.
    pub max_m: f64,
    /// Neighbours whose depths differ by more than this part of the depth are at an edge.
    pub edge_ratio: f64,
    /// Fraction of the pixels at edges that get a depth between front and back.
    pub flying: f64,
    /// Fraction of the pixels at edges that see nothing.
    pub edge_dropout: f64,
    /// Surfaces seen at a flatter angle than this, between view and surface, are hardly seen.
    pub grazing_rad: f64,
    /// Fraction of the pixels on such surfaces that see nothing.
    pub grazing_dropout: f64,
    /// Fraction of all pixels that see nothing, in spots of a few pixels.
    pub dropout: f64,
    /// Whether what only one of the two imagers sees is lost.
    pub shadow: bool,
}

impl Default for DepthSensor {
    fn default() -> Self {
        Self::d435()
    }
}

/// Pixels of a spot that drops out at random have up to this distance from its middle.
const SPOT_PIXELS: usize = 2;

impl DepthSensor {
    /// A camera without errors, within the same range.
    #[must_use]
    pub fn ideal() -> Self {
        Self {
            subpixel: 0.0,
            correlation: 0.0,
            disparity_step: 0.0,
            flying: 0.0,
            edge_dropout: 0.0,
            grazing_dropout: 0.0,
            dropout: 0.0,
            shadow: false,
            ..Self::d435()
        }
    }

    /// Like an Intel RealSense D435 in good light: with the focal length of its pictures of 640
    /// columns, 383 pixels, the noise is 3 mm at 1 m and 12 mm at 2 m.
    #[must_use]
    pub fn d435() -> Self {
        Self {
            baseline_m: 0.05,
            subpixel: 0.06,
            correlation: 0.5,
            disparity_step: 1.0 / 32.0,
            min_m: 0.105,
            max_m: 10.0,
            edge_ratio: 0.03,
            flying: 0.25,
            edge_dropout: 0.3,
            grazing_rad: 0.17,
            grazing_dropout: 0.5,
            dropout: 0.002,
            shadow: false,
        }
    }

    /// Standard deviation of the depth at a depth, before steps.
    #[must_use]
    pub fn sigma_m(&self, depth_m: f64, pinhole: &Pinhole) -> f64 {
        depth_m * depth_m * self.subpixel / (pinhole.fx * self.baseline_m)
    }

    /// What the camera delivers of an ideal picture of `width` columns: depths along the view
    /// axis in metres, 0 or NaN where there is nothing. `out` gets NaN where nothing is seen.
    /// The same seed makes the same errors.
    ///
    /// # Errors
    /// When the pictures' sizes do not fit, or a setting is out of range.
    pub fn apply(
        &self,
        depth_m: &[f32],
        width: usize,
        pinhole: &Pinhole,
        seed: u64,
        out: &mut [f32],
    ) -> Result<(), SimError> {
        self.check(depth_m, width, pinhole, out)?;
        let mut rng = Rng::for_episode(seed, 0, "depth sensor");
        let ideal = Ideal { depth_m, width, pinhole };
        let mut noise = Noise::new(width, self.correlation, &mut rng);
        let mut hidden = vec![false; width];
        let scale = pinhole.fx * self.baseline_m;
        for (row, out) in out.chunks_exact_mut(width).enumerate() {
            noise.next_row(&mut rng);
            if self.shadow {
                ideal.hide(row, scale, &mut hidden);
            }
            for (column, out) in out.iter_mut().enumerate() {
                // Always as many random numbers, so that one pixel's fate moves no other's.
                let [fate, between, grazes] = [rng.unit(), rng.unit(), rng.unit()];
                let error = noise.at(column, &mut rng) * self.subpixel;
                *out = f32::NAN;
                let seen = ideal.at(column, row).filter(|m| self.is_in_range(*m));
                let Some(mut seen_m) = seen.filter(|_| !hidden[column]) else { continue };
                if let Some(other_m) = ideal.across_edge(column, row, self.edge_ratio) {
                    if fate < self.edge_dropout {
                        continue;
                    }
                    if fate < self.edge_dropout + self.flying {
                        seen_m += (other_m - seen_m) * between;
                    }
                } else if grazes < self.grazing_dropout
                    && ideal.angle_rad(column, row).is_some_and(|a| a < self.grazing_rad)
                {
                    continue;
                }
                let mut disparity = scale / seen_m + error;
                if self.disparity_step > 0.0 {
                    disparity = (disparity / self.disparity_step).round() * self.disparity_step;
                }
                let depth_m = scale / disparity;
                if self.is_in_range(depth_m) {
                    *out = depth_m as f32;
                }
            }
        }
        self.drop_spots(width, &mut rng, out);
        Ok(())
    }

    fn is_in_range(&self, depth_m: f64) -> bool {
        (self.min_m..=self.max_m).contains(&depth_m)
    }

    /// Takes small round spots away.
    fn drop_spots(&self, width: usize, rng: &mut Rng, out: &mut [f32]) {
        let reach = SPOT_PIXELS as isize;
        let inside = |x: isize, y: isize| x * x + y * y <= reach * reach;
        let place = move |k: isize| (k % (2 * reach + 1) - reach, k / (2 * reach + 1) - reach);
        let spot = (0..(2 * reach + 1).pow(2)).map(place).filter(|(x, y)| inside(*x, *y));
        let height = out.len() / width;
        let spots = self.dropout * out.len() as f64 / spot.clone().count() as f64;
        for _ in 0..spots.round() as usize {
            let column = rng.uniform(0.0, width as f64) as usize;
            let row = rng.uniform(0.0, height as f64) as usize;
            for (x, y) in spot.clone() {
                let (x, y) = (column.wrapping_add_signed(x), row.wrapping_add_signed(y));
                if x < width && y < height {
                    out[y * width + x] = f32::NAN;
                }
            }
        }
    }

    fn check(
        &self,
        depth_m: &[f32],
        width: usize,
        pinhole: &Pinhole,
        out: &[f32],
    ) -> Result<(), SimError> {
        if width == 0 || !depth_m.len().is_multiple_of(width) || out.len() != depth_m.len() {
            let (pixels, room) = (depth_m.len(), out.len());
            let reason = format!("{pixels} pixels in rows of {width}, room for {room}");
            return Err(SimError::Sensor { what: "depth picture".to_owned(), reason });
        }
        let fractions = [
            ("correlation", self.correlation),
            ("flying", self.flying),
            ("edge_dropout", self.edge_dropout),
            ("flying + edge_dropout", self.flying + self.edge_dropout),
            ("grazing_dropout", self.grazing_dropout),
            ("dropout", self.dropout),
        ];
        if let Some((key, fraction)) = fractions.iter().find(|(_, s)| !(0.0..=1.0).contains(s)) {
            return Err(SimError::sensor(key, format!("{fraction} is not from 0 to 1")));
        }
        let lengths = [
            ("subpixel", self.subpixel),
            ("disparity_step", self.disparity_step),
            ("edge_ratio", self.edge_ratio),
            ("grazing_rad", self.grazing_rad),
        ];
        if let Some((key, n)) = lengths.iter().find(|(_, n)| !(n.is_finite() && *n >= 0.0)) {
            return Err(SimError::sensor(key, format!("{n} is not 0 or above")));
        }
        let above = [
            ("baseline_m", self.baseline_m),
            ("min_m", self.min_m),
            ("max_m - min_m", self.max_m - self.min_m),
            ("fx", pinhole.fx),
            ("fy", pinhole.fy),
        ];
        match above.iter().find(|(_, n)| !(n.is_finite() && *n > 0.0)) {
            Some((key, n)) => Err(SimError::sensor(key, format!("{n} is not above 0"))),
            None => Ok(()),
        }
    }
}

/// The picture without errors.
struct Ideal<'a> {
    depth_m: &'a [f32],
    width: usize,
    pinhole: &'a Pinhole,
}

impl Ideal<'_> {
    /// Depth of a pixel where something is.
    fn at(&self, column: usize, row: usize) -> Option<f64> {
        let depth = self.depth_m.get(row * self.width + column).filter(|_| column < self.width)?;
        (*depth > 0.0 && depth.is_finite()).then(|| f64::from(*depth))
    }

    /// Depth of the neighbour that differs most, if that makes an edge.
    fn across_edge(&self, column: usize, row: usize, ratio: f64) -> Option<f64> {
        let own = self.at(column, row)?;
        let depths = [
            column.checked_sub(1).and_then(|left| self.at(left, row)),
            self.at(column + 1, row),
            row.checked_sub(1).and_then(|above| self.at(column, above)),
            self.at(column, row + 1),
        ];
        let depths = depths.into_iter().flatten();
        let most = depths.max_by(|a, b| (a - own).abs().total_cmp(&(b - own).abs()))?;
        ((most - own).abs() > ratio * own.min(most)).then_some(most)
    }

    /// Angle between the line of sight and the surface, from the neighbours on all sides.
    fn angle_rad(&self, column: usize, row: usize) -> Option<f64> {
        let point = |x: usize, y: usize| {
            let depth = self.at(x, y)?;
            Some(self.ray(x, y) * depth)
        };
        let across = point(column + 1, row)? - point(column.checked_sub(1)?, row)?;
        let down = point(column, row + 1)? - point(column, row.checked_sub(1)?)?;
        let normal = across.cross(&down).try_normalize(1e-15)?;
        Some(normal.dot(&self.ray(column, row).normalize()).abs().asin())
    }

    fn ray(&self, column: usize, row: usize) -> Vector3<f64> {
        let Pinhole { fx, fy, cx, cy } = *self.pinhole;
        Vector3::new((column as f64 - cx) / fx, (row as f64 - cy) / fy, 1.0)
    }

    /// Which pixels of a row the second imager, to the right, does not see: something nearer
    /// further right comes to lie over them in its picture.
    fn hide(&self, row: usize, scale: f64, hidden: &mut [bool]) {
        let mut leftmost = f64::INFINITY;
        for column in (0..self.width).rev() {
            let Some(depth) = self.at(column, row) else {
                hidden[column] = false;
                continue;
            };
            let there = column as f64 - scale / depth;
            hidden[column] = leftmost < there;
            leftmost = leftmost.min(there);
        }
    }
}

/// Normal random numbers, one per pixel, part of which is shared by neighbours.
struct Noise {
    /// The rows above, at and below the current one, one column more on each side.
    rows: [Vec<f64>; 3],
    shared: f64,
    own: f64,
}

impl Noise {
    fn new(width: usize, correlation: f64, rng: &mut Rng) -> Self {
        let mut row = || (0..width + 2).map(|_| normal(rng)).collect();
        // A sum of nine has three times the deviation of one.
        let (shared, own) = (correlation.sqrt() / 3.0, (1.0 - correlation).sqrt());
        Self { rows: [row(), row(), row()], shared, own }
    }

    fn next_row(&mut self, rng: &mut Rng) {
        self.rows.rotate_left(1);
        self.rows[2].fill_with(|| normal(rng));
    }

    /// The number of a pixel: mean 0, deviation 1.
    fn at(&self, column: usize, rng: &mut Rng) -> f64 {
        let nine: f64 = self.rows.iter().flat_map(|r| &r[column..column + 3]).sum();
        nine * self.shared + normal(rng) * self.own
    }
}

/// A normal random number: mean 0, deviation 1.
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}
