//! One sweep over the points: transform, crop, robot, confirmation and sums per voxel.

use std::ops::Range;

use super::block::{BLOCK, Block, spread};
use super::rows::Rows;
use super::self_filter::RobotVolume;
use super::self_filter_quick::Lanes;
use super::slots::{RunSums, Slots};
use super::support::{Confirm, REACH};
use super::transform::CellTransform;
use crate::frame::{Counts, Fate};
use citrange_cloud::Points;
use citrange_lanes::{Isa, LANES};

/// Points that are taken in one go from a cloud that is no picture.
const STRIP: usize = 4 * BLOCK;

/// More columns than this are no picture, whatever a cloud says.
const WIDEST_PICTURE: usize = 1 << 14;

/// What all parts of a sweep share.
pub(crate) struct SweepJob<'a, P> {
    /// The cloud.
    pub(crate) points: &'a P,
    /// Its way into cells.
    pub(crate) to_cell: &'a CellTransform,
    /// What is the robot's.
    pub(crate) own: &'a RobotVolume,
    /// When neighbours confirm a point; `None` to not ask.
    pub(crate) confirm: Option<Confirm>,
    /// For each point whether it is an outlier; empty if nobody looked for them.
    pub(crate) outliers: &'a [bool],
    /// Which instructions to use.
    pub(crate) isa: Isa,
}

/// How a cloud is cut: into rows of a picture, or into strips of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strips {
    points: usize,
    length: usize,
    /// Whether strips are the rows of a picture.
    pub(crate) picture: bool,
}

impl Strips {
    /// How to cut a cloud.
    pub(crate) fn of<P: Points>(points: &P) -> Self {
        let (len, width) = (points.len(), points.width());
        let rows = len.checked_div(width).unwrap_or(0);
        let picture = (2..=WIDEST_PICTURE).contains(&width) && rows > 1 && rows * width == len;
        Self { points: len, length: if picture { width } else { STRIP }, picture }
    }

    /// Number of strips.
    pub(crate) fn count(&self) -> usize {
        self.points.div_ceil(self.length)
    }

    /// Points before a strip.
    pub(crate) fn start(&self, strip: usize) -> usize {
        (strip * self.length).min(self.points)
    }
}

/// Where points go that are left before voxels are made, for stages that look at points.
pub(crate) struct Survivors<'a> {
    /// Number of the first point.
    pub(crate) first: usize,
    /// Coordinates in the camera's frame; NaN for points that are not left.
    pub(crate) xyz: [&'a mut [f32]; 3],
}

/// Works through a part of the strips. Owns all memory that it needs.
#[derive(Clone, Debug)]
pub(crate) struct Sweeper {
    /// Sums per voxel.
    pub(crate) slots: Slots,
    /// Points that did not get into a voxel.
    pub(crate) counts: Counts,
    block: Block,
    rows: Rows,
}

impl Sweeper {
    /// A sweeper for a grid of `cells`.
    pub(crate) fn new(cells: usize) -> Self {
        Self {
            slots: Slots::new(cells),
            counts: Counts::default(),
            block: Block::default(),
            rows: Rows::default(),
        }
    }

    /// Sums up the points of some strips, from nothing.
    pub(crate) fn sweep<P: Points>(
        &mut self,
        job: &SweepJob<'_, P>,
        strips: Strips,
        range: Range<usize>,
        mut survivors: Option<Survivors<'_>>,
    ) {
        self.slots.clear();
        self.counts = Counts::default();
        let confirm = job.confirm.filter(|_| strips.picture);
        let reach = if confirm.is_some() { REACH } else { 0 };
        self.rows.shape(strips.length, 2 * reach + 1);
        let mut next = range.start.saturating_sub(reach);
        for strip in range {
            while next < strips.count() && next <= strip + reach {
                let row = strips.start(next)..strips.start(next + 1);
                self.rows.fill(job.points, row, next, job.isa);
                next += 1;
            }
            let start = strips.start(strip);
            let length = strips.start(strip + 1) - start;
            for from in (0..length).step_by(BLOCK) {
                let points = BLOCK.min(length - from);
                self.sort(job, strip, start, from..from + points);
                if self.block.inside + self.block.doubts == 0 {
                    continue;
                }
                job.points.fill_rgb(start + from, &mut self.block.colours[..points]);
                if let Some(confirm) = confirm {
                    let rows = self.rows.around(strip, strips.count(), from, points);
                    confirm.mark(&rows, self.block.wanted, &mut self.block.colours, job.isa);
                }
                self.sum(job, strip, start + from, from, &mut survivors);
            }
        }
    }

    /// Sorts a block of a strip into cells; outliers are taken out before.
    fn sort<P: Points>(
        &mut self,
        job: &SweepJob<'_, P>,
        strip: usize,
        start: usize,
        range: Range<usize>,
    ) {
        let points = range.len();
        let mut taken = 0;
        if let Some(outliers) = job.outliers.get(start + range.start..start + range.end) {
            let x = self.rows.x_mut(strip, range.start);
            for (x, _) in x.iter_mut().zip(outliers).filter(|(_, outlier)| **outlier) {
                *x = f32::NAN;
                taken += 1;
            }
        }
        let xyz = self.rows.block(strip, range.start, points.next_multiple_of(LANES));
        self.block.sort(job.to_cell, xyz, job.isa);
        self.counts.add(Fate::Outlier, taken as u64);
        self.counts.add(Fate::NotSeen, (points - self.block.seen - taken) as u64);
        let left = self.block.seen - self.block.inside - self.block.doubts;
        self.counts.add(Fate::Cropped, left as u64);
    }

    /// Adds the points of a sorted block to their voxels.
    fn sum<P: Points>(
        &mut self,
        job: &SweepJob<'_, P>,
        strip: usize,
        first: usize,
        from: usize,
        survivors: &mut Option<Survivors<'_>>,
    ) {
        let block = &mut self.block;
        block.sum_colours(job.isa);
        let xyz = self.rows.block(strip, from, BLOCK + LANES);
        let mut begin = 0;
        for run in 0..block.runs {
            let end = block.ends[run] as usize;
            let key = block.keys[begin];
            let slot = self.slots.at(key, || job.own.near(job.to_cell, key));
            let members = &block.at[begin..end];
            if slot.near == 0 {
                slot.add((end - begin) as u32, block.sums(begin, end));
                if let Some(survivors) = survivors {
                    survivors.keep(first, members, xyz);
                }
            } else {
                for members in members.chunks(LANES) {
                    let left = not_own(job, slot.near, members, xyz, &mut self.counts);
                    let (points, sums) = total(members, left, &block.colours);
                    slot.add(points, sums);
                    if let Some(survivors) = survivors {
                        survivors.keep_bits(first, members, left, xyz);
                    }
                }
            }
            begin = end;
        }
        for at in &block.doubtful[..block.doubts] {
            let i = *at as usize;
            let Some(key) = job.to_cell.cell_key(xyz.map(|axis| axis[i])) else {
                self.counts.add(Fate::Cropped, 1);
                continue;
            };
            let slot = self.slots.at(key, || job.own.near(job.to_cell, key));
            let left = match slot.near {
                0 => 1,
                near => not_own(job, near, &[*at], xyz, &mut self.counts),
            };
            let (points, sums) = total(&[*at], left, &block.colours);
            slot.add(points, sums);
            if let Some(survivors) = survivors {
                survivors.keep_bits(first, &[*at], left, xyz);
            }
        }
    }
}

/// Bits of up to [`LANES`] points that are not the robot's; counts the others.
fn not_own<P: Points>(
    job: &SweepJob<'_, P>,
    near: u32,
    members: &[u32],
    xyz: [&[f32]; 3],
    counts: &mut Counts,
) -> u16 {
    let mut points: Lanes = [[f32::INFINITY; LANES]; 3];
    let (first, last) = match members {
        [] => return 0,
        [first, .., last] => (*first as usize, *last as usize),
        [only] => (*only as usize, *only as usize),
    };
    for a in 0..3 {
        if last - first == members.len() - 1 {
            points[a].copy_from_slice(&xyz[a][first..first + LANES]);
        } else {
            for (lane, at) in members.iter().enumerate().take(LANES) {
                points[a][lane] = xyz[a][*at as usize];
            }
        }
    }
    let all = ((1_u32 << members.len()) - 1) as u16;
    let (robot, spheres) = job.own.taken(near, all, &points, job.to_cell, job.isa);
    counts.add(Fate::Robot, u64::from(robot.count_ones()));
    counts.add(Fate::EndEffector, u64::from(spheres.count_ones()));
    all & !(robot | spheres)
}

/// Number and sums of those points whose bit is set.
fn total(members: &[u32], bits: u16, colours: &[u32; BLOCK]) -> (u32, RunSums) {
    let sums = members
        .iter()
        .enumerate()
        .map(|(lane, at)| u64::from(bits >> lane & 1) * spread(colours[*at as usize % BLOCK]))
        .sum();
    (bits.count_ones(), sums)
}

impl Survivors<'_> {
    /// Cuts them in two; the second half begins with a point.
    pub(crate) fn split(self, second: usize) -> (Self, Self) {
        let [x, y, z] = self.xyz.map(|axis| axis.split_at_mut(second - self.first));
        let before = Self { first: self.first, xyz: [x.0, y.0, z.0] };
        (before, Self { first: second, xyz: [x.1, y.1, z.1] })
    }

    fn keep(&mut self, first: usize, members: &[u32], xyz: [&[f32]; 3]) {
        for at in members {
            for a in 0..3 {
                self.xyz[a][first - self.first + *at as usize] = xyz[a][*at as usize];
            }
        }
    }

    fn keep_bits(&mut self, first: usize, members: &[u32], bits: u16, xyz: [&[f32]; 3]) {
        for (lane, at) in members.iter().enumerate() {
            if bits >> lane & 1 == 1 {
                self.keep(first, &[*at], xyz);
            }
        }
    }
}
