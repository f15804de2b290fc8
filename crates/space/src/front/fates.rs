//! What became of each point, one by one: for pictures and to check the sweep.

use super::slots::Slots;
use super::sweep::SweepJob;
use crate::frame::Fate;
use citrange_cloud::Points;

/// Writes one fate per point. `slots` are those of the finished frame.
pub(crate) fn write<P: Points>(job: &SweepJob<'_, P>, slots: &Slots, fates: &mut Vec<Fate>) {
    fates.clear();
    let (mut x, mut y, mut z) = ([0.0_f32], [0.0_f32], [0.0_f32]);
    for index in 0..job.points.len() {
        job.points.fill(index, &mut x, &mut y, &mut z);
        let point = [x[0], y[0], z[0]];
        let outlier = job.outliers.get(index).is_some_and(|outlier| *outlier);
        fates.push(if point.iter().any(|v| !v.is_finite()) || point == [0.0; 3] {
            Fate::NotSeen
        } else if let Some(slot) = job.to_cell.cell_key(point).and_then(|key| slots.get(key)) {
            let own = job.own.fate(job.to_cell.world_m(point));
            own.unwrap_or(if outlier { Fate::Outlier } else { slot.fate })
        } else if outlier {
            // Nothing else was in its cell.
            Fate::Outlier
        } else {
            Fate::Cropped
        });
    }
}
