//! Numbers of the map over time.

use serde::{Deserialize, Serialize};

use crate::error::SpaceError;
use crate::grid::Grid;
use crate::map::field::MAX_REACH_CELLS;
use crate::map::snapshot::{DEFAULT_REACH_M, reach_cells};
use citrange_cloud::Workspace;

/// How the map takes in frames.
///
/// A voxel with points in it is occupied at once (`min_hits` frames make it wait). It stays
/// until cameras have looked *through* it in `clear_frames` frames with no points in it in
/// between: being hidden, out of the picture or in a hole of the depth picture takes nothing
/// away. With `max_age_s` what nobody confirmed for that long is forgotten and unknown again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MapSettings {
    /// How far questions reach; at most 255 voxels.
    pub reach_m: f64,
    /// Frames with points in a voxel that make it occupied.
    pub min_hits: u8,
    /// Frames that must look through a voxel to make it free.
    pub clear_frames: u8,
    /// Occupied voxels that no camera confirmed for so long are forgotten.
    pub max_age_s: Option<f64>,
    /// How far behind a voxel a camera must see to have looked through it: more than the noise
    /// of its depths.
    pub carve_margin_m: f64,
    /// Voxels inside of this box are left out: a finer map has them.
    pub left_out: Option<Workspace>,
    /// How moving things are found.
    pub tracks: TrackSettings,
}

/// How things are followed from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrackSettings {
    /// A thing is the same as one before if its centroid is at most so far from where that one
    /// should be by now.
    pub gate_m: f64,
    /// Velocities are slopes over this time.
    pub window_s: f64,
    /// A thing that was not seen for so long is gone.
    pub forget_s: f64,
    /// Faster than this begins to move.
    pub moving_above_m_s: f64,
    /// Slower than this has stopped.
    pub still_below_m_s: f64,
    /// What appears and stays for so long belongs to the scene.
    pub adopt_s: f64,
}

impl Default for MapSettings {
    fn default() -> Self {
        Self {
            reach_m: DEFAULT_REACH_M,
            min_hits: 1,
            clear_frames: 2,
            max_age_s: None,
            carve_margin_m: 0.02,
            left_out: None,
            tracks: TrackSettings::default(),
        }
    }
}

impl Default for TrackSettings {
    fn default() -> Self {
        Self {
            gate_m: 0.15,
            window_s: 0.5,
            forget_s: 0.5,
            moving_above_m_s: 0.06,
            still_below_m_s: 0.03,
            adopt_s: 10.0,
        }
    }
}

impl MapSettings {
    /// Checks everything; how many cells of `grid` the reach is.
    pub(crate) fn check(&self, grid: &Grid) -> Result<usize, SpaceError> {
        let tracks = &self.tracks;
        let above_0 = [
            ("reach_m", Some(self.reach_m)),
            ("max_age_s", self.max_age_s),
            ("tracks.gate_m", Some(tracks.gate_m)),
            ("tracks.window_s", Some(tracks.window_s)),
            ("tracks.forget_s", Some(tracks.forget_s)),
            ("tracks.adopt_s", Some(tracks.adopt_s)),
            ("tracks.moving_above_m_s", Some(tracks.moving_above_m_s)),
        ];
        for (key, value) in above_0 {
            if let Some(value) = value.filter(|v| !(v.is_finite() && *v > 0.0)) {
                return Err(SpaceError::setting(key, format!("{value} is not above 0")));
            }
        }
        let margin_m = self.carve_margin_m;
        if !(margin_m.is_finite() && margin_m >= 0.0) {
            let reason = format!("{margin_m} is not 0 or above");
            return Err(SpaceError::setting("carve_margin_m", reason));
        }
        if !(0.0..=tracks.moving_above_m_s).contains(&tracks.still_below_m_s) {
            let reason = "must be 0 to moving_above_m_s";
            return Err(SpaceError::setting("tracks.still_below_m_s", reason));
        }
        for (key, frames) in [("min_hits", self.min_hits), ("clear_frames", self.clear_frames)] {
            if frames == 0 {
                return Err(SpaceError::setting(key, "must be 1 to 255"));
            }
        }
        let cells = reach_cells(grid, self.reach_m);
        if cells > MAX_REACH_CELLS {
            let most_m = MAX_REACH_CELLS as f64 * grid.voxel_m();
            let reason =
                format!("{} is more than {MAX_REACH_CELLS} voxels, {most_m}", self.reach_m);
            return Err(SpaceError::setting("reach_m", reason));
        }
        Ok(cells)
    }

    /// First and last cell that lie inside of the box that is left out.
    pub(crate) fn left_out_cells(&self, grid: &Grid) -> Option<[[usize; 3]; 2]> {
        let hole = self.left_out?;
        let mut cells = [[0; 3]; 2];
        for a in 0..3 {
            let at = |m: f64| (m - grid.lower_m()[a]) / grid.voxel_m();
            let first = (at(hole.lower_m[a]) - 1e-9).ceil().max(0.0);
            let last = (at(hole.upper_m[a]) + 1e-9).floor().min(grid.size()[a] as f64) - 1.0;
            if first.is_nan() || last.is_nan() || first > last {
                return None;
            }
            (cells[0][a], cells[1][a]) = (first as usize, last as usize);
        }
        Some(cells)
    }
}
