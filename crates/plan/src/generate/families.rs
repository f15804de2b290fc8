//! Worlds in families: tables, shelves, cages, boxes, bars, clutter, in a robot's size.
//!
//! Difficulty goes from 0 to 1: gaps become narrower and things more. Lengths are shares of the
//! robot's reach; gaps are multiples of its hand.

use std::f64::consts::{PI, TAU};

use citrange_core::Pose;
use citrange_core::rng::Rng;
use citrange_core::shape::PosedShape;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

use super::size::RobotSize;

/// The floor is this much of the reach below the base.
const FLOOR: f64 = 0.04;
/// Nothing of a world but cages is nearer to the first joint's axis than this much of the reach.
const FOOT: f64 = 0.24;

/// A kind of world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Things on a table, a way between them or under it.
    Table,
    /// From compartment to compartment.
    Shelf,
    /// Posts and bars around the robot; its hand goes through their gaps.
    Cage,
    /// Into open boxes.
    Box,
    /// Long bars across the room.
    Bars,
    /// Things of all kinds everywhere.
    Clutter,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Table, Self::Shelf, Self::Cage, Self::Box, Self::Bars, Self::Clutter];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Shelf => "shelf",
            Self::Cage => "cage",
            Self::Box => "box",
            Self::Bars => "bars",
            Self::Clutter => "clutter",
        }
    }

    /// A family by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }
}

/// A box-shaped part of the room, in a frame of its own.
#[derive(Clone, Copy, Debug)]
struct Region {
    world_from_region: Isometry3<f64>,
    half_m: [f64; 3],
}

/// What stands around a robot, and where its tool should start and end.
#[derive(Clone, Debug)]
pub(super) struct World {
    pub(super) solids: Vec<PosedShape>,
    starts: Vec<Region>,
    goals: Vec<Region>,
}

struct Drawer<'a> {
    size: &'a RobotSize,
    /// From 0 to 1.
    hard: f64,
    rng: &'a mut Rng,
    world: World,
}

impl World {
    pub(super) fn draw(family: Family, size: &RobotSize, difficulty: f64, rng: &mut Rng) -> Self {
        let world = Self { solids: Vec::new(), starts: Vec::new(), goals: Vec::new() };
        let mut drawer = Drawer { size, hard: difficulty, rng, world };
        drawer.floor();
        match family {
            Family::Table => drawer.table(),
            Family::Shelf => drawer.shelf(),
            Family::Cage => drawer.cage(),
            Family::Box => drawer.boxes(),
            Family::Bars => drawer.bars(),
            Family::Clutter => drawer.clutter(),
        }
        drawer.world
    }

    /// A place for the tool: at the start (0) or the goal (1).
    pub(super) fn place(&self, end: usize, rng: &mut Rng) -> Vector3<f64> {
        let regions = if end == 0 { &self.starts } else { &self.goals };
        let Some(region) = regions.get(rng.below(regions.len())) else { return Vector3::zeros() };
        let half = region.half_m;
        let inside = Vector3::from_fn(|axis, _| rng.uniform(-1.0, 1.0) * half[axis]);
        (region.world_from_region * nalgebra::Point3::from(inside)).coords
    }
}

impl Drawer<'_> {
    fn reach(&self, share: f64) -> f64 {
        share * self.size.reach_m
    }

    /// From `easy` at difficulty 0 to `hard` at 1.
    fn by_difficulty(&self, easy: f64, hard: f64) -> f64 {
        easy + (hard - easy) * self.hard
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.rng.uniform(low, high)
    }

    fn count(&mut self, easy: f64, hard: f64) -> usize {
        (self.by_difficulty(easy, hard) + self.rng.unit()).floor().max(0.0) as usize
    }

    /// A frame at a distance and a height, in a direction, its x axis away from the robot.
    fn frame(&self, away_m: f64, height_m: f64, yaw: f64) -> Isometry3<f64> {
        let [x, y, _] = self.size.shoulder_m;
        let at = Translation3::new(
            x + away_m * yaw.cos(),
            y + away_m * yaw.sin(),
            self.size.base_z_m + height_m,
        );
        Isometry3::from_parts(at, UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw))
    }

    /// Where a robot can turn to: its front half twice as often.
    fn yaw(&mut self) -> f64 {
        if self.rng.unit() < 0.5 {
            self.between(-PI / 2.0, PI / 2.0)
        } else {
            self.between(-PI, PI)
        }
    }

    fn cuboid(&mut self, frame: &Isometry3<f64>, at_m: [f64; 3], half_m: [f64; 3]) {
        let pose: Pose = (frame * Translation3::from(at_m)).into();
        self.world.solids.push(PosedShape::cuboid(pose.pos_m, pose.quat_wxyz, half_m));
    }

    fn floor(&mut self) {
        let half_m = [self.reach(2.0), self.reach(2.0), self.reach(0.02)];
        let frame = self.frame(0.0, -self.reach(FLOOR) - half_m[2], 0.0);
        self.cuboid(&frame, [0.0; 3], half_m);
    }

    /// A thing that stands on z = 0 of a frame: a cylinder, a box or a ball.
    fn thing_on(&mut self, frame: &Isometry3<f64>, x_m: f64, y_m: f64, wide_m: f64, high_m: f64) {
        let here = frame * Translation3::new(x_m, y_m, 0.0);
        match self.rng.below(5) {
            0 | 1 => {
                let pose = (here * Translation3::new(0.0, 0.0, high_m / 2.0)).into();
                self.world.solids.push(PosedShape::cylinder(pose, wide_m, high_m / 2.0));
            }
            2 => {
                let centre = here * nalgebra::Point3::new(0.0, 0.0, wide_m);
                self.world.solids.push(PosedShape::sphere(centre.coords.into(), wide_m));
            }
            _ => {
                let turn =
                    UnitQuaternion::from_axis_angle(&Vector3::z_axis(), self.rng.unit() * PI);
                let flat = wide_m * self.between(0.5, 1.0);
                let half_m = [wide_m, flat, high_m / 2.0];
                self.cuboid(&(here * turn), [0.0, 0.0, high_m / 2.0], half_m);
            }
        }
    }

    fn region(frame: &Isometry3<f64>, at_m: [f64; 3], half_m: [f64; 3]) -> Region {
        Region { world_from_region: frame * Translation3::from(at_m), half_m }
    }

    /// Somewhere in the air.
    fn air(&mut self) -> Region {
        let yaw = self.yaw();
        let (away_m, height_m) = (self.reach(0.45), self.reach(0.5));
        let frame = self.frame(away_m, height_m, yaw);
        Self::region(&frame, [0.0; 3], [self.reach(0.15), self.reach(0.25), self.reach(0.2)])
    }

    fn table(&mut self) {
        let half = [self.between(0.22, 0.36), self.between(0.35, 0.65)].map(|s| self.reach(s));
        let top_m = self.between(0.0, 0.35);
        let (top_m, thick_m) = (self.reach(top_m), self.reach(0.02));
        let foot_m = self.between(FOOT, FOOT + 0.1);
        let yaw = self.yaw();
        let frame = self.frame(self.reach(foot_m) + half[0], top_m, yaw);
        self.cuboid(&frame, [0.0, 0.0, -thick_m], [half[0], half[1], thick_m]);
        let leg_m = (top_m + self.reach(FLOOR)) / 2.0 - thick_m;
        for corner in 0..4 {
            let sign = |bit: usize| if corner >> bit & 1 == 0 { -0.9 } else { 0.9 };
            let at =
                Translation3::new(sign(0) * half[0], sign(1) * half[1], -2.0 * thick_m - leg_m);
            if leg_m > thick_m {
                let leg = PosedShape::cylinder((frame * at).into(), self.reach(0.02), leg_m);
                self.world.solids.push(leg);
            }
        }
        for _ in 0..self.count(3.0, 9.0) {
            let [x_m, y_m] = half.map(|half| self.rng.uniform(-0.9, 0.9) * half);
            let (wide, high) = (self.between(0.02, 0.06), self.between(0.06, 0.3));
            let (wide_m, high_m) = (self.reach(wide), self.reach(high));
            self.thing_on(&frame, x_m, y_m, wide_m, high_m);
        }
        let over = |this: &Self| {
            let half_m = [0.9 * half[0], 0.9 * half[1], this.reach(0.07)];
            Self::region(&frame, [0.0, 0.0, this.reach(0.1)], half_m)
        };
        let on = over(self);
        let below_m = top_m / 2.0;
        let is_under = top_m > 2.5 * self.size.hand_m && self.rng.unit() < 0.5;
        let start = if is_under {
            Self::region(
                &frame,
                [0.0, 0.0, -below_m],
                [0.8 * half[0], 0.8 * half[1], 0.4 * below_m],
            )
        } else {
            on
        };
        self.world.starts.push(start);
        self.world.goals.push(on);
    }

    fn shelf(&mut self) {
        let boards = 3 + self.rng.below(2);
        let gap_m = self.size.hand_m * self.by_difficulty(4.5, 2.6);
        let gap_m = gap_m.min(self.reach(0.45));
        let columns = 1 + self.rng.below(2);
        let wide = self.between(0.25, 0.35);
        let half_wide_m = self.reach(wide).max(1.6 * self.size.hand_m);
        let (deep, thick_m) = (self.between(0.14, 0.2), self.reach(0.012));
        let half_deep_m = self.reach(deep);
        let (near, low) = (self.between(0.38, 0.55), self.between(0.0, 0.15));
        let yaw = self.yaw();
        let frame = self.frame(self.reach(near) + half_deep_m, self.reach(low), yaw);
        let high_m = gap_m * (boards - 1) as f64;
        for board in 0..boards {
            let z = gap_m * board as f64;
            let half_m = [half_deep_m, half_wide_m * columns as f64, thick_m];
            self.cuboid(&frame, [0.0, 0.0, z], half_m);
        }
        for wall in 0..=columns {
            let y = half_wide_m * (2.0 * wall as f64 - columns as f64);
            self.cuboid(&frame, [0.0, y, high_m / 2.0], [half_deep_m, thick_m, high_m / 2.0]);
        }
        let back = [half_deep_m, 0.0, high_m / 2.0];
        self.cuboid(&frame, back, [thick_m, half_wide_m * columns as f64, high_m / 2.0]);
        let mut rooms = Vec::new();
        for board in 0..boards - 1 {
            for column in 0..columns {
                let y = half_wide_m * (2.0 * column as f64 + 1.0 - columns as f64);
                let at = [-0.2 * half_deep_m, y, gap_m * (board as f64 + 0.5)];
                let half_m = [0.6 * half_deep_m, 0.6 * half_wide_m, 0.25 * gap_m];
                rooms.push(Self::region(&frame, at, half_m));
                if self.rng.unit() < self.by_difficulty(0.3, 0.8) {
                    let floor = frame * Translation3::new(0.0, 0.0, gap_m * board as f64 + thick_m);
                    let (x, across) = (self.between(0.0, 0.7), self.between(-0.7, 0.7));
                    let (thin, tall) = (self.between(0.02, 0.05), self.between(0.3, 0.7));
                    let wide_m = self.reach(thin);
                    let (x_m, y_m) = (x * half_deep_m, y + across * half_wide_m);
                    self.thing_on(&floor, x_m, y_m, wide_m, tall * gap_m);
                }
            }
        }
        let goal = self.rng.below(rooms.len());
        let start = (goal + 1 + self.rng.below(rooms.len() - 1)) % rooms.len();
        let air = self.air();
        let start = if self.rng.unit() < 0.3 { air } else { rooms[start] };
        self.world.starts.push(start);
        self.world.goals.push(rooms[goal]);
    }

    fn cage(&mut self) {
        let around = self.between(0.34, 0.5);
        let around_m = self.reach(around);
        let gap_m = self.size.hand_m * self.by_difficulty(6.0, 3.4);
        let posts = ((TAU * around_m / gap_m).floor() as usize).clamp(4, 12);
        let bar_m = self.reach(self.by_difficulty(0.015, 0.03));
        let high = self.between(0.5, 0.9);
        let high_m = self.reach(high).max(2.0 * gap_m);
        let first = self.rng.unit() * TAU;
        let post = |number: usize| first + TAU * number as f64 / posts as f64;
        let round = self.rng.unit() < 0.5;
        for number in 0..posts {
            let low = self.frame(around_m, 0.0, post(number));
            if round {
                let pose = (low * Translation3::new(0.0, 0.0, high_m / 2.0)).into();
                self.world.solids.push(PosedShape::cylinder(pose, bar_m, high_m / 2.0));
            } else {
                self.cuboid(&low, [0.0, 0.0, high_m / 2.0], [bar_m, bar_m, high_m / 2.0]);
            }
        }
        // Rings from post to post.
        let rings = 1 + usize::from(high_m > 3.0 * gap_m);
        for ring in 1..=rings {
            let height_m = high_m * ring as f64 / rings as f64;
            for number in 0..posts {
                let ends = [number, number + 1].map(|n| self.frame(around_m, height_m, post(n)));
                let [from, to] = ends.map(|end| end.translation.vector.into());
                self.world.solids.push(PosedShape::capsule(from, to, bar_m));
            }
        }
        // In the middle of a gap, and beyond it.
        let gap = |this: &mut Self, away_m: f64| {
            let number = this.rng.below(posts);
            let height_m = high_m / rings as f64 / 2.0;
            let middle = post(number) + PI / posts as f64;
            let frame = this.frame(away_m, height_m, middle);
            let deep_m = 0.25 * (around_m - away_m).abs() + this.reach(0.02);
            Self::region(&frame, [0.0; 3], [deep_m, 0.25 * gap_m, 0.25 * height_m])
        };
        let outside_m = around_m + self.between(0.12, 0.3) * self.size.reach_m;
        let inside_m = around_m * self.rng.uniform(0.55, 0.9);
        let starts_outside = self.rng.unit() < 0.7;
        let start = gap(self, if starts_outside { outside_m } else { inside_m });
        let goal = gap(self, outside_m);
        self.world.starts.push(start);
        self.world.goals.push(goal);
    }

    /// A box without a lid; a region of its inside. The frame's x is away from the robot; it
    /// opens upward, or toward the robot.
    fn open_box(&mut self, frame: &Isometry3<f64>, inside_m: [f64; 3], thick_m: f64) -> Region {
        let opens_up = self.rng.unit() < 0.6;
        let [x, y, z] = inside_m;
        let walls = [
            ([x + thick_m, 0.0, 0.0], [thick_m, y + 2.0 * thick_m, z]),
            ([-x - thick_m, 0.0, 0.0], [thick_m, y + 2.0 * thick_m, z]),
            ([0.0, y + thick_m, 0.0], [x, thick_m, z]),
            ([0.0, -y - thick_m, 0.0], [x, thick_m, z]),
            ([0.0, 0.0, -z - thick_m], [x + 2.0 * thick_m, y + 2.0 * thick_m, thick_m]),
            ([0.0, 0.0, z + thick_m], [x + 2.0 * thick_m, y + 2.0 * thick_m, thick_m]),
        ];
        let open = if opens_up { 5 } else { 1 };
        for (number, (at_m, half_m)) in walls.into_iter().enumerate() {
            if number != open {
                self.cuboid(frame, at_m, half_m);
            }
        }
        Self::region(frame, [0.0; 3], inside_m.map(|half| 0.5 * half))
    }

    fn boxes(&mut self) {
        let mut insides = Vec::new();
        let first = self.yaw();
        let apart = self.between(1.0, 2.4);
        for yaw in [first, first + apart] {
            let half_m = self.size.hand_m * self.by_difficulty(2.2, 1.35);
            let half_m = [1.0, self.between(1.0, 1.5), self.between(0.8, 1.1)].map(|s| s * half_m);
            let thick_m = self.reach(0.01);
            let away = self.between(0.5, 0.65);
            let away_m = self.reach(away).max(self.reach(FOOT) + 1.2 * half_m[0]);
            let low = self.between(0.0, 0.25);
            let frame = self.frame(away_m, self.reach(low) + half_m[2], yaw);
            let turned =
                UnitQuaternion::from_axis_angle(&Vector3::z_axis(), self.rng.uniform(-0.4, 0.4));
            insides.push(self.open_box(&(frame * turned), half_m, thick_m));
            // What it stands on.
            let stand_m = (self.reach(low + FLOOR) - 2.0 * thick_m) / 2.0;
            if stand_m > thick_m {
                let down = -half_m[2] - 2.0 * thick_m - stand_m;
                let pose = (frame * Translation3::new(0.0, 0.0, down)).into();
                let stand = PosedShape::cylinder(pose, 0.6 * half_m[0], stand_m);
                self.world.solids.push(stand);
            }
        }
        let air = self.air();
        let start = if self.rng.unit() < 0.3 { air } else { insides[0] };
        self.world.starts.push(start);
        self.world.goals.push(insides[1]);
    }

    /// A point in the room that the arm reaches, not too near to its foot.
    fn somewhere(&mut self, near: f64, far: f64) -> Vector3<f64> {
        let shoulder = Vector3::from(self.size.shoulder_m);
        loop {
            let ball = Vector3::from_fn(|_, _| self.rng.uniform(-1.0, 1.0));
            let at = shoulder + ball * self.reach(far);
            let beside = (at - shoulder).xy().norm();
            let above = at.z - self.size.base_z_m;
            if ball.norm() <= 1.0 && beside >= self.reach(near) && above > 0.0 {
                return at;
            }
        }
    }

    fn anywhere(&mut self) {
        for goals in [false, true] {
            for _ in 0..4 {
                let at = self.somewhere(0.3, 0.75);
                let region = Region {
                    world_from_region: Translation3::from(at).into(),
                    half_m: [0.05 * self.size.reach_m; 3],
                };
                let ends = if goals { &mut self.world.goals } else { &mut self.world.starts };
                ends.push(region);
            }
        }
    }

    fn bars(&mut self) {
        for _ in 0..self.count(4.0, 12.0) {
            let at = self.somewhere(FOOT + 0.06, 0.8);
            let way = Vector3::from_fn(|_, _| self.rng.uniform(-1.0, 1.0));
            let way = match self.rng.below(3) {
                0 => Vector3::z(),
                1 => Vector3::new(way.x, way.y, 0.0),
                _ => way,
            };
            let (thin, long) = (self.between(0.012, 0.035), self.between(0.25, 0.8));
            let (radius_m, half_m) = (self.reach(thin), self.reach(long));
            let way = way.try_normalize(1e-6).unwrap_or_else(Vector3::z);
            let [from, to] = [at - way * half_m, at + way * half_m];
            // Past the foot, not through it.
            let shoulder = Vector3::from(self.size.shoulder_m);
            let flat = Vector3::new(way.x, way.y, 0.0);
            let nearest = if flat.norm() > 1e-6 {
                let along = (shoulder - from).xy().dot(&flat.xy()) / flat.norm_squared();
                from + way * along.clamp(0.0, 2.0 * half_m)
            } else {
                at
            };
            if (nearest - shoulder).xy().norm() < self.reach(FOOT) {
                continue;
            }
            if self.rng.unit() < 0.5 {
                let capsule = PosedShape::capsule(from.into(), to.into(), radius_m);
                self.world.solids.push(capsule);
            } else {
                let turn = UnitQuaternion::rotation_between(&Vector3::z(), &way)
                    .unwrap_or_else(UnitQuaternion::identity);
                let pose = Isometry3::from_parts(at.into(), turn).into();
                self.world.solids.push(PosedShape::cylinder(pose, radius_m, half_m));
            }
        }
        self.anywhere();
    }

    fn clutter(&mut self) {
        for _ in 0..self.count(10.0, 35.0) {
            let at = self.somewhere(FOOT + 0.1, 0.9);
            let size = self.between(0.025, 0.08);
            let size_m = self.reach(size);
            let turn = UnitQuaternion::from_euler_angles(
                self.rng.uniform(-PI, PI),
                self.rng.uniform(-PI / 2.0, PI / 2.0),
                self.rng.uniform(-PI, PI),
            );
            let pose: Pose = Isometry3::from_parts(at.into(), turn).into();
            let flat = [1.0, self.between(0.4, 1.6), self.between(0.4, 1.6)];
            self.world.solids.push(match self.rng.below(3) {
                0 => PosedShape::sphere(pose.pos_m, size_m),
                1 => PosedShape::cylinder(pose, 0.7 * size_m, flat[1] * size_m),
                _ => PosedShape::cuboid(pose.pos_m, pose.quat_wxyz, flat.map(|f| 0.7 * f * size_m)),
            });
        }
        self.anywhere();
    }
}
