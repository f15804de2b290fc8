//! How far the spheres of sixteen arms are from everything, and in which direction.

use citrange_lanes::{Lanes, Simd, kernel, store};

use super::boxes::LaneBoxes;

/// What the kernels know of the spheres.
#[derive(Clone, Debug)]
pub(crate) struct SphereTable {
    pub(crate) radii_m: Vec<f32>,
    pub(crate) links: Vec<u16>,
    pub(crate) groups: Vec<Option<u8>>,
    pub(crate) count: usize,
}

/// What was sensed in the sixteen copies.
#[derive(Clone, Debug)]
pub(crate) struct Sensed {
    /// Clearance of each group: the distance of its sphere's surface that is nearest to anything.
    pub(crate) clearance_m: Vec<Lanes>,
    /// From what is nearest to that sphere's centre, unit length; zero inside.
    pub(crate) away: Vec<[Lanes; 3]>,
    /// The centre of that sphere.
    pub(crate) at_m: Vec<[Lanes; 3]>,
    /// The least clearance of all groups.
    pub(crate) least_m: Lanes,
    /// Copies that touch a box.
    pub(crate) touches: u16,
    /// Copies that touch the floor.
    pub(crate) floor: u16,
}

impl Sensed {
    pub(crate) fn new(groups: usize) -> Self {
        let nothing = Lanes::splat(0.0);
        Self {
            clearance_m: vec![nothing; groups],
            away: vec![[nothing; 3]; groups],
            at_m: vec![[nothing; 3]; groups],
            least_m: nothing,
            touches: 0,
            floor: 0,
        }
    }
}

kernel! {
    /// Senses with all spheres. The first moving link does not sense, does not care for the floor
    /// that it turns above, and may not touch anything else.
    pub(crate) fn sense(
        simd, table: &SphereTable, centres: &[[Lanes; 3]], boxes: &LaneBoxes, to: &mut Sensed,
    ) {
        run(simd, table, centres, boxes, to);
    }
}

kernel! {
    /// Only whether anything is touched.
    pub(crate) fn touches(
        simd, table: &SphereTable, centres: &[[Lanes; 3]], boxes: &LaneBoxes,
    ) -> u16 {
        let mut hit = 0;
        for (sphere, centre) in centres.iter().enumerate().take(table.links.len()) {
            if table.links[sphere] > 0 {
                let first = usize::from(table.links[sphere] == 1);
                let (_, distance2) = boxes.nearest(simd, first, &simd.load3(centre));
                let radius = simd.splat(table.radii_m[sphere]);
                hit |= distance2.lt(radius * radius).bits();
            }
        }
        hit
    }
}

#[inline(always)]
fn run<S: Simd>(
    simd: S,
    table: &SphereTable,
    centres: &[[Lanes; 3]],
    boxes: &LaneBoxes,
    to: &mut Sensed,
) {
    let far = Lanes::splat(1e3);
    to.clearance_m.fill(far);
    let mut hit = 0;
    let mut floor_hit = 0;
    for (sphere, centre) in centres.iter().enumerate().take(table.links.len()) {
        let link = table.links[sphere];
        if link == 0 {
            continue;
        }
        let centre = simd.load3(centre);
        let radius = simd.splat(table.radii_m[sphere]);
        let (way, distance2) = boxes.nearest(simd, usize::from(link == 1), &centre);
        let distance = distance2.sqrt();
        let clearance = distance - radius;
        let zero = simd.splat(0.0);
        hit |= clearance.lt(zero).bits();
        let Some(group) = table.groups[sphere] else { continue };
        if let Some(floor) = boxes.high_m.first() {
            floor_hit |= (centre[2] - radius).lt(simd.load(&floor[2].0)).bits();
        }
        let group = usize::from(group);
        let before = simd.load(&to.clearance_m[group].0);
        let is_less = clearance.lt(before);
        let unit = simd.splat(1.0) / distance.max(simd.splat(1e-6));
        let old = simd.load3(&to.away[group]);
        is_less.select(clearance, before).store(&mut to.clearance_m[group].0);
        let away = [
            is_less.select(way[0] * unit, old[0]),
            is_less.select(way[1] * unit, old[1]),
            is_less.select(way[2] * unit, old[2]),
        ];
        store(&away, &mut to.away[group]);
        let old = simd.load3(&to.at_m[group]);
        let at = [
            is_less.select(centre[0], old[0]),
            is_less.select(centre[1], old[1]),
            is_less.select(centre[2], old[2]),
        ];
        store(&at, &mut to.at_m[group]);
    }
    let mut least = simd.splat(1e3);
    for clearance in &to.clearance_m {
        least = simd.load(&clearance.0).min(least);
    }
    least.store(&mut to.least_m.0);
    to.touches = hit;
    to.floor = floor_hit & hit;
}
