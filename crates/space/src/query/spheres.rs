//! Which spheres touch anything.

use crate::error::SpaceError;
use crate::map::MapSnapshot;
use crate::query::same_length;

impl MapSnapshot {
    /// Whether the distance of each centre to the nearest cube is at most its radius. A sphere
    /// that is not finite counts as one that touches; radii may be larger than the reach.
    ///
    /// # Errors
    /// When there are not as many radii and places for answers as centres.
    pub fn spheres_hit(
        &self,
        centres_m: &[[f64; 3]],
        radii_m: &[f64],
        out: &mut [bool],
    ) -> Result<(), SpaceError> {
        same_length("radii of spheres", radii_m.len(), centres_m.len())?;
        same_length("spheres", out.len(), centres_m.len())?;
        for ((out, centre_m), radius_m) in out.iter_mut().zip(centres_m).zip(radii_m) {
            *out = self.sphere_hit(*centre_m, *radius_m);
        }
        Ok(())
    }

    /// [`MapSnapshot::spheres_hit`] for one.
    #[must_use]
    pub fn sphere_hit(&self, centre_m: [f64; 3], radius_m: f64) -> bool {
        let q = self.cells_from_lower(centre_m);
        let radius = radius_m / self.grid.voxel_m();
        if !(q.iter().all(|v| v.is_finite()) && radius.is_finite()) {
            return true;
        }
        let gap = self.lower_bound_cells(q);
        if radius < gap || radius < 0.0 {
            return false;
        }
        // Two points of two cells are at most one cell more apart on each axis than the cells.
        let inside = (0..3).all(|a| q[a] >= 0.0 && q[a] < self.grid.size()[a] as f64);
        if inside && gap < self.reach_cells as f64 && radius >= gap + 3_f64.sqrt() {
            return true;
        }
        self.nearest_within::<true>(q, radius).is_some()
    }
}
