//! Random worlds.

use citrange_core::rng::Rng;

use super::arm::ReachArm;
use super::boxes::Aabb;
use super::settings::{Family, WorldSettings};

/// A box and its velocity, m/s.
pub type Obstacle = (Aabb, [f32; 3]);

/// Thickness of boards, posts, beams and bars: half of it.
const HALF_BOARD_M: f64 = 0.012;

/// How often a box is drawn anew that stands on the arm.
const TRIES: usize = 20;

/// Where the arm turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    /// The first axis.
    pub(super) axis_m: [f64; 2],
    pub(super) scale: f64,
}

impl Site {
    pub(super) fn of(arm: &ReachArm) -> Self {
        let first = arm.robot().forward_kinematics(arm.home()).ok();
        let first = first.as_ref().and_then(|poses| poses.get(1));
        let axis_m = first.map_or([0.0; 2], |pose| [pose.translation.x, pose.translation.y]);
        Self { axis_m, scale: arm.scale() }
    }

    fn is_off_the_axis(&self, of: &Aabb, settings: &WorldSettings) -> bool {
        let [x, y] = self.axis_m;
        let height = f64::from(of.low_m[2] + of.high_m[2]) / 2.0;
        of.distance_m([x, y, height]) >= settings.axis_m * self.scale
    }
}

/// The floor, then what stands on it and hangs above it.
pub(super) fn draw(site: Site, settings: &WorldSettings, rng: &mut Rng) -> (Family, Vec<Obstacle>) {
    let family = settings.families[rng.below(settings.families.len())];
    let mut boxes = vec![(Aabb::floor(0.0), [0.0; 3])];
    match family {
        Family::Clutter => clutter(site, settings, rng, &mut boxes),
        Family::Shelf => shelf(site, rng, &mut boxes),
        Family::Cage => cage(site, rng, &mut boxes),
        Family::Bars => bars(site, rng, &mut boxes),
    }
    if rng.unit() < settings.voxels {
        let voxel = (settings.voxel_m * site.scale) as f32;
        boxes.iter_mut().skip(1).for_each(|(of, _)| *of = of.as_voxels(voxel));
    }
    let mut index = 0;
    boxes.retain(|(of, _)| {
        index += 1;
        index == 1 || site.is_off_the_axis(of, settings)
    });
    (family, boxes)
}

/// One box of the settings' sizes around a point.
pub(super) fn box_at(
    site: Site,
    settings: &WorldSettings,
    middle_m: [f64; 3],
    rng: &mut Rng,
) -> Option<Aabb> {
    let [low, high] = settings.half_edge_m;
    let half = [
        rng.uniform(low, high) * site.scale,
        rng.uniform(low, high) * site.scale,
        rng.uniform(low, settings.half_height_m) * site.scale,
    ];
    let made = Aabb::around(middle_m.map(|x| x as f32), half.map(|x| x as f32));
    let made = if settings.voxels > 0.5 {
        made.as_voxels((settings.voxel_m * site.scale) as f32)
    } else {
        made
    };
    site.is_off_the_axis(&made, settings).then_some(made)
}

fn clutter(site: Site, settings: &WorldSettings, rng: &mut Rng, to: &mut Vec<Obstacle>) {
    let [fewest, most] = settings.boxes.map(|n| n as usize);
    let count = fewest + rng.below(most - fewest + 1);
    for _ in 0..count {
        for _ in 0..TRIES {
            let radius = rng.uniform(settings.radius_m[0], settings.radius_m[1]) * site.scale;
            let angle = rng.uniform(0.0, std::f64::consts::TAU);
            let height = rng.uniform(settings.height_m[0], settings.height_m[1]) * site.scale;
            let [x, y] = site.axis_m;
            let middle = [x + radius * angle.cos(), y + radius * angle.sin(), height];
            if let Some(of) = box_at(site, settings, middle, rng) {
                to.push((of, velocity(site, settings, rng)));
                break;
            }
        }
    }
}

/// A speed between the settings' in any direction.
pub(super) fn velocity(site: Site, settings: &WorldSettings, rng: &mut Rng) -> [f32; 3] {
    let [slow, fast] = settings.speed_m_s;
    if fast <= 0.0 {
        return [0.0; 3];
    }
    let speed = rng.uniform(slow, fast) * site.scale;
    let up = rng.uniform(-0.5, 0.5);
    let angle = rng.uniform(0.0, std::f64::consts::TAU);
    let level = (1.0 - up * up).sqrt();
    [speed * level * angle.cos(), speed * level * angle.sin(), speed * up].map(|x| x as f32)
}

/// A frame whose x points away from the arm, in one of four directions.
struct Facing {
    site: Site,
    quarter: usize,
}

impl Facing {
    /// A box by its middle and halves in units of the scale.
    fn add(&self, middle: [f64; 3], half: [f64; 3], to: &mut Vec<Obstacle>) {
        let turned = |[x, y, z]: [f64; 3]| match self.quarter {
            0 => [x, y, z],
            1 => [-y, x, z],
            2 => [-x, -y, z],
            _ => [y, -x, z],
        };
        let scale = self.site.scale;
        let middle = turned(middle).map(|x| x * scale);
        let half = turned(half).map(|x| (x * scale).abs() as f32);
        let [x, y] = self.site.axis_m;
        let middle = [(middle[0] + x) as f32, (middle[1] + y) as f32, middle[2] as f32];
        to.push((Aabb::around(middle, half), [0.0; 3]));
    }
}

/// Two to three boards with sides and a back, in front of the arm.
fn shelf(site: Site, rng: &mut Rng, to: &mut Vec<Obstacle>) {
    let facing = Facing { site, quarter: rng.below(4) };
    let (near, deep) = (rng.uniform(0.4, 0.55), rng.uniform(0.12, 0.18));
    let (wide, low) = (rng.uniform(0.3, 0.5), rng.uniform(0.05, 0.2));
    let (boards, gap) = (2 + rng.below(2), rng.uniform(0.28, 0.38));
    let middle = near + deep;
    for board in 0..boards {
        let height = low + gap * board as f64;
        facing.add([middle, 0.0, height], [deep, wide, HALF_BOARD_M], to);
    }
    let top = low + gap * (boards - 1) as f64;
    for side in [-1.0, 1.0] {
        let half = [deep, HALF_BOARD_M, top / 2.0];
        facing.add([middle, side * wide, top / 2.0], half, to);
    }
    facing.add([middle + deep, 0.0, top / 2.0], [HALF_BOARD_M, wide, top / 2.0], to);
}

/// Four to eight posts around the arm, and beams between them.
fn cage(site: Site, rng: &mut Rng, to: &mut Vec<Obstacle>) {
    let half = rng.uniform(0.4, 0.6);
    let top = rng.uniform(0.6, 0.9);
    let thick = rng.uniform(0.012, 0.03);
    let facing = Facing { site, quarter: 0 };
    for [x, y] in [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]] {
        facing.add([x * half, y * half, top / 2.0], [thick, thick, top / 2.0], to);
    }
    for quarter in 0..4 {
        let facing = Facing { site, quarter };
        if rng.unit() < 0.7 {
            facing.add([half, 0.0, top], [thick, half, thick], to);
        }
        if rng.unit() < 0.4 {
            let height = rng.uniform(0.1, 0.5);
            facing.add([half, 0.0, height], [thick, half, thick], to);
        }
    }
}

/// Three to eight bars, upright and level.
fn bars(site: Site, rng: &mut Rng, to: &mut Vec<Obstacle>) {
    let count = 3 + rng.below(6);
    for _ in 0..count {
        let facing = Facing { site, quarter: rng.below(4) };
        let (away, aside) = (rng.uniform(0.35, 0.75), rng.uniform(-0.4, 0.4));
        let thick = rng.uniform(0.012, 0.03);
        if rng.unit() < 0.5 {
            let half = rng.uniform(0.2, 0.5);
            facing.add([away, aside, half], [thick, thick, half], to);
        } else {
            let height = rng.uniform(0.15, 0.8);
            facing.add([away, aside, height], [thick, rng.uniform(0.15, 0.4), thick], to);
        }
    }
}
