//! Samples of a picture that belong together: things.

use super::{Kind, Sample};
use crate::map::tracks::USUAL_THINGS;

/// Neighbours whose depths differ by more are of different things.
const JOIN_M: f32 = 0.03;
/// Of the eight around a sample that appeared so many must have, too: edges flicker.
const MIN_NEIGHBOURS: usize = 4;
/// Smaller things are not followed.
const MIN_AREA_M2: f32 = 4e-4;
const MIN_SAMPLES: u32 = 10;
/// A thing of which less has appeared stands still.
const MIN_APPEARED: f32 = 0.04;
/// Of which more has appeared is one thing.
const WHOLE: f32 = 0.8;
const NONE: u32 = u32::MAX;

/// Something in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Thing {
    /// Mean of its points.
    pub(crate) centroid_m: [f64; 3],
    /// Corners of the box around them.
    pub(crate) bounds_m: [[f64; 3]; 2],
    /// What is seen of it, across the view.
    pub(crate) area_m2: f64,
    /// Whether pixels of it have appeared.
    pub(crate) appeared: bool,
    /// Whether it is all that hangs together, and not only what has appeared of it.
    pub(crate) is_whole: bool,
}

/// Sums over samples.
#[derive(Clone, Copy, Debug)]
struct Sums {
    samples: u32,
    appeared: u32,
    area_m2: f32,
    place_m: [f64; 3],
    bounds_m: [[f32; 3]; 2],
    is_split: bool,
}

impl Sums {
    const EMPTY: Self = Self {
        samples: 0,
        appeared: 0,
        area_m2: 0.0,
        place_m: [0.0; 3],
        bounds_m: [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]],
        is_split: false,
    };

    fn add(&mut self, sample: &Sample, pixel_m: f32) {
        self.samples += 1;
        self.appeared += u32::from(sample.moves());
        let side = pixel_m * sample.depth_m;
        self.area_m2 += side * side;
        for a in 0..3 {
            let at = sample.place_m[a];
            self.place_m[a] += f64::from(at);
            self.bounds_m[0][a] = self.bounds_m[0][a].min(at);
            self.bounds_m[1][a] = self.bounds_m[1][a].max(at);
        }
    }

    fn is_thing(&self) -> bool {
        self.samples >= MIN_SAMPLES && self.area_m2 >= MIN_AREA_M2
    }

    fn centroid_m(&self) -> [f64; 3] {
        self.place_m.map(|sum| sum / f64::from(self.samples.max(1)))
    }

    fn thing(&self, appeared: bool, is_whole: bool) -> Thing {
        Thing {
            centroid_m: self.centroid_m(),
            bounds_m: self.bounds_m.map(|corner| corner.map(f64::from)),
            area_m2: f64::from(self.area_m2),
            appeared,
            is_whole,
        }
    }
}

/// Scratch memory, and the things of the last frame.
#[derive(Clone, Debug)]
pub(crate) struct Components {
    /// Samples that count, after flickering ones are taken out.
    kinds: Vec<Kind>,
    /// Of each sample: another one of its component, of all and of those that appeared.
    all: Vec<u32>,
    appeared: Vec<u32>,
    /// Of each root: its number.
    number: Vec<u32>,
    sums: Vec<Sums>,
    things: Vec<Thing>,
}

impl Default for Components {
    fn default() -> Self {
        Self {
            kinds: Vec::new(),
            all: Vec::new(),
            appeared: Vec::new(),
            number: Vec::new(),
            sums: Vec::with_capacity(2 * USUAL_THINGS),
            things: Vec::with_capacity(USUAL_THINGS),
        }
    }
}

impl Components {
    /// The things in a picture of so many `columns`. `knows` says whether a thing of this place and
    /// area was a whole one before.
    pub(super) fn find(
        &mut self,
        samples: &[Sample],
        columns: usize,
        pixel_m: f32,
        knows: impl Fn([f64; 3], f64) -> bool,
    ) -> &[Thing] {
        self.steady(samples, columns);
        join(&mut self.all, samples, columns, |at| self.kinds[at] != Kind::Nothing);
        join(&mut self.appeared, samples, columns, |at| self.kinds[at] == Kind::Appeared);
        self.things.clear();
        self.sum_up(samples, pixel_m, false);
        let mut split = false;
        for sums in &mut self.sums {
            if !sums.is_thing() {
                continue;
            }
            let part = sums.appeared as f32 / sums.samples as f32;
            let area_m2 = f64::from(sums.area_m2);
            if part < MIN_APPEARED {
                self.things.push(sums.thing(false, true));
            } else if part > WHOLE || knows(sums.centroid_m(), area_m2) {
                self.things.push(sums.thing(true, true));
            } else {
                sums.is_split = true;
                split = true;
            }
        }
        if split {
            // What has appeared passes something that was there: each by itself.
            for at in 0..samples.len() {
                if self.kinds[at] != Kind::Nothing {
                    let number = self.number[root(&mut self.all, at as u32) as usize];
                    if !self.sums[number as usize].is_split {
                        self.kinds[at] = Kind::Nothing;
                    }
                }
            }
            self.sum_up(samples, pixel_m, true);
            let things = self.sums.iter().filter(|sums| sums.is_thing());
            self.things.extend(things.map(|sums| sums.thing(true, false)));
        }
        &self.things
    }

    /// Kinds without those that appeared alone.
    fn steady(&mut self, samples: &[Sample], columns: usize) {
        let rows = samples.len() / columns;
        self.kinds.clear();
        self.kinds.extend(samples.iter().map(|s| s.kind));
        for row in 0..rows {
            for column in 0..columns {
                let at = row * columns + column;
                if samples[at].kind != Kind::Appeared {
                    continue;
                }
                let rows = row.saturating_sub(1)..(row + 2).min(rows);
                let around = rows.map(|r| {
                    let line = r * columns + column.saturating_sub(1)
                        ..r * columns + (column + 2).min(columns);
                    samples[line].iter().filter(|s| s.kind == Kind::Appeared).count()
                });
                // The sample itself is counted, too.
                if around.sum::<usize>() <= MIN_NEIGHBOURS {
                    self.kinds[at] = Kind::Nothing;
                }
            }
        }
    }

    /// Sums over the components: of all samples, or of those that appeared.
    fn sum_up(&mut self, samples: &[Sample], pixel_m: f32, only_appeared: bool) {
        self.number.clear();
        self.number.resize(samples.len(), NONE);
        self.sums.clear();
        for (at, sample) in samples.iter().enumerate() {
            let kind = self.kinds[at];
            if kind == Kind::Nothing || (only_appeared && kind != Kind::Appeared) {
                continue;
            }
            let parents = if only_appeared { &mut self.appeared } else { &mut self.all };
            let root = root(parents, at as u32) as usize;
            if self.number[root] == NONE {
                self.number[root] = self.sums.len() as u32;
                self.sums.push(Sums::EMPTY);
            }
            self.sums[self.number[root] as usize].add(sample, pixel_m);
        }
    }
}

/// Joins neighbours of about the same depth (union-find).
fn join(
    parents: &mut Vec<u32>,
    samples: &[Sample],
    columns: usize,
    counts: impl Fn(usize) -> bool,
) {
    parents.clear();
    parents.extend(0..samples.len() as u32);
    for at in 0..samples.len() {
        if !counts(at) {
            continue;
        }
        let (row, column) = (at / columns, at % columns);
        let mut with = |other: usize| {
            if counts(other) && (samples[at].depth_m - samples[other].depth_m).abs() < JOIN_M {
                let (a, b) = (root(parents, at as u32), root(parents, other as u32));
                parents[a.max(b) as usize] = a.min(b);
            }
        };
        if column > 0 {
            with(at - 1);
        }
        if row > 0 {
            with(at - columns);
            if column > 0 {
                with(at - columns - 1);
            }
            if column + 1 < columns {
                with(at - columns + 1);
            }
        }
    }
}

/// The first sample of a component; paths are halved on the way.
fn root(parents: &mut [u32], mut at: u32) -> u32 {
    while parents[at as usize] != at {
        parents[at as usize] = parents[parents[at as usize] as usize];
        at = parents[at as usize];
    }
    at
}
