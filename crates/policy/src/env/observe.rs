//! What a policy sees: numbers around 1, the same in training and on an arm.
//!
//! | numbers | what |
//! |---|---|
//! | 2 per controlled joint | sine and cosine |
//! | 2 per controlled joint | how fast the joint brings the tool nearer to the goal, per scale; how fast it takes the groups of spheres away from what they are near to, each by its nearness |
//! | 9 | for x, y and z: goal from the tool, tool, goal; from the base, times 2 over the scale |
//! | 1 | distance to the goal, times 2 over the scale |
//! | 3 | direction to the goal |
//! | 1 | share of the steps that are spent |
//! | 4 per group of spheres | nearness `w` (1 in touch, 0 at the reach of the sense), then `w` times the direction away from what is nearest |
//! | 16 | the same at four points ahead, on the straight line to the goal |
//!
//! Vectors are in the frame of the robot's base.

use citrange_lanes::{F32x16, LANES, Lanes, Simd, Triple, cross, dot, kernel, rotated, sub};

use super::arm::ReachArm;
use super::boxes::LaneBoxes;
use super::copies::Copies;

/// Where points ahead are, as shares of the way.
const AHEAD: [f32; 4] = [0.2, 0.45, 0.7, 1.0];

/// Names of what a policy sees, in order.
#[must_use]
pub fn input_names(arm: &ReachArm) -> Vec<String> {
    let joints = &arm.robot().chain().joints;
    let mut names = Vec::new();
    for joint in arm.controlled() {
        names.push(format!("sin({})", joints[*joint].name));
        names.push(format!("cos({})", joints[*joint].name));
    }
    for joint in arm.controlled() {
        names.push(format!("nearer({})", joints[*joint].name));
        names.push(format!("farther({})", joints[*joint].name));
    }
    for axis in ["x", "y", "z"] {
        names.push(format!("goal_from_tool_{axis}"));
        names.push(format!("tool_{axis}"));
        names.push(format!("goal_{axis}"));
    }
    names.push("distance".to_owned());
    names.extend(["x", "y", "z"].map(|axis| format!("direction_{axis}")));
    names.push("spent".to_owned());
    let links: Vec<&str> = arm.robot().links().collect();
    let groups = arm.group_links().iter().enumerate().map(|(index, link)| {
        format!("group{index}({})", links.get(usize::from(*link)).copied().unwrap_or_default())
    });
    let ahead = AHEAD.iter().map(|at| format!("ahead{at}"));
    for place in groups.chain(ahead) {
        names.push(format!("near_{place}"));
        names.extend(["x", "y", "z"].map(|axis| format!("away_{axis}_{place}")));
    }
    names
}

/// What the kernel needs besides.
struct View<'a> {
    joints: &'a [Lanes],
    controlled: &'a [usize],
    /// Of each controlled joint: whether it slides, its axis and a point on it.
    axes: &'a [(bool, [Lanes; 3], [Lanes; 3])],
    tool_m: &'a [Lanes; 3],
    goal_m: &'a [Lanes; 3],
    distance_m: &'a Lanes,
    clearance_m: &'a [Lanes],
    away: &'a [[Lanes; 3]],
    at_m: &'a [[Lanes; 3]],
    group_links: &'a [u16],
    boxes: &'a LaneBoxes,
    spent: Lanes,
    /// The base: rows that turn world into base, and where it is.
    turn: [[f32; 3]; 3],
    base_m: [f32; 3],
    per_metre: f32,
    sense_m: f32,
    ahead_m: f32,
}

kernel! {
    /// Writes all numbers of the sixteen copies.
    fn observe(simd, view: &View<'_>, to: &mut [Lanes]) {
        fill(simd, view, to);
    }
}

#[inline(always)]
fn fill<S: Simd>(simd: S, view: &View<'_>, to: &mut [Lanes]) {
    let mut at = 0;
    for joint in view.controlled {
        let (sin, cos) = simd.load(&view.joints[*joint].0).sin_cos();
        sin.store(&mut to[at].0);
        cos.store(&mut to[at + 1].0);
        at += 2;
    }
    let (tool, goal) = (simd.load3(view.tool_m), simd.load3(view.goal_m));
    let away = [goal[0] - tool[0], goal[1] - tool[1], goal[2] - tool[2]];
    let unit = simd.splat(1.0) / simd.load(&view.distance_m.0).max(simd.splat(1e-6));
    let toward = [away[0] * unit, away[1] * unit, away[2] * unit];
    for (joint, (is_slide, axis, point)) in view.controlled.iter().zip(view.axes) {
        let (axis, point) = (simd.load3(axis), simd.load3(point));
        let rate = rate(*is_slide, &axis, &point, &tool, &toward) * view.per_metre;
        let mut farther = simd.splat(0.0);
        for group in 0..view.away.len() {
            if usize::from(view.group_links[group]) > *joint {
                let near = simd.load(&view.clearance_m[group].0) * (-1.0 / view.sense_m) + 1.0;
                let near = near.max(simd.splat(0.0)).min(simd.splat(1.0));
                let (at, away) = (simd.load3(&view.at_m[group]), simd.load3(&view.away[group]));
                let rate = self::rate(*is_slide, &axis, &point, &at, &away);
                farther = farther + near * near * rate * view.per_metre;
            }
        }
        rate.store(&mut to[at].0);
        farther.store(&mut to[at + 1].0);
        at += 2;
    }
    let base = simd.splat3(&view.base_m);
    let own_tool = rotated(&view.turn, &[tool[0] - base[0], tool[1] - base[1], tool[2] - base[2]]);
    let own_goal = rotated(&view.turn, &[goal[0] - base[0], goal[1] - base[1], goal[2] - base[2]]);
    let own_away = rotated(&view.turn, &away);
    for axis in 0..3 {
        (own_away[axis] * view.per_metre).store(&mut to[at].0);
        (own_tool[axis] * view.per_metre).store(&mut to[at + 1].0);
        (own_goal[axis] * view.per_metre).store(&mut to[at + 2].0);
        at += 3;
    }
    let distance = simd.load(&view.distance_m.0);
    (distance * view.per_metre).store(&mut to[at].0);
    let soft = distance + simd.splat(0.04 / view.per_metre);
    for axis in 0..3 {
        (own_away[axis] / soft).store(&mut to[at + 1 + axis].0);
    }
    simd.load(&view.spent.0).store(&mut to[at + 4].0);
    at += 5;
    for (clearance, away) in view.clearance_m.iter().zip(view.away) {
        let way = rotated(&view.turn, &simd.load3(away));
        nearness(simd, view, simd.load(&clearance.0), &way, &mut to[at..at + 4]);
        at += 4;
    }
    let reach = simd.splat(view.ahead_m);
    let share = reach.min(distance) / distance.max(simd.splat(1e-6));
    for part in AHEAD {
        let way = share * part;
        let point = [tool[0] + away[0] * way, tool[1] + away[1] * way, tool[2] + away[2] * way];
        let (away, distance2) = view.boxes.nearest(simd, 0, &point);
        let length = distance2.sqrt();
        let unit = simd.splat(1.0) / length.max(simd.splat(1e-6));
        let away = rotated(&view.turn, &[away[0] * unit, away[1] * unit, away[2] * unit]);
        nearness(simd, view, length, &away, &mut to[at..at + 4]);
        at += 4;
    }
}

/// How fast a joint moves a point in a direction.
#[inline(always)]
fn rate<S: Simd>(
    is_slide: bool,
    axis: &Triple<S>,
    on_axis: &Triple<S>,
    point: &Triple<S>,
    direction: &Triple<S>,
) -> F32x16<S> {
    if is_slide { dot(axis, direction) } else { dot(&cross(axis, &sub(point, on_axis)), direction) }
}

#[inline(always)]
fn nearness<S: Simd>(
    simd: S,
    view: &View<'_>,
    distance: F32x16<S>,
    away: &Triple<S>,
    to: &mut [Lanes],
) {
    let near = (distance * (-1.0 / view.sense_m) + 1.0).max(simd.splat(0.0)).min(simd.splat(1.0));
    near.store(&mut to[0].0);
    (away[0] * near).store(&mut to[1].0);
    (away[1] * near).store(&mut to[2].0);
    (away[2] * near).store(&mut to[3].0);
}

impl Copies {
    /// How many numbers a policy sees.
    pub(crate) fn inputs(&self) -> usize {
        4 * self.arm.controlled().len() + 14 + 4 * (self.table.count + AHEAD.len())
    }

    /// What the copies see, one after the other, after [`Copies::look`].
    pub(crate) fn observe(&mut self, rows: &mut [f32]) {
        let inputs = self.inputs();
        self.features.resize(inputs, Lanes::splat(0.0));
        let (settings, scale) = (&self.settings, self.arm.scale() as f32);
        let base = self.arm.robot().chain().world_from_base.isometry();
        let turn = base.rotation.to_rotation_matrix();
        let spent = 1.0 / settings.max_steps as f32;
        let axes = self.arm.controlled().iter().map(|joint| {
            let nothing = [Lanes::splat(0.0); 3];
            let (axis, point) = self.kinematics.block_axis(*joint).unwrap_or((nothing, nothing));
            (self.arm.robot().chain().joints[*joint].is_slide, axis, point)
        });
        let axes: Vec<_> = axes.collect();
        let view = View {
            axes: &axes,
            at_m: &self.sensed.at_m,
            group_links: self.arm.group_links(),
            joints: &self.joints,
            controlled: self.arm.controlled(),
            tool_m: &self.tool_m,
            goal_m: &self.goal_m,
            distance_m: &self.distance_m,
            clearance_m: &self.sensed.clearance_m,
            away: &self.sensed.away,
            boxes: &self.boxes,
            spent: Lanes(self.steps.map(|steps| steps as f32 * spent)),
            // The columns of the rotation are the rows of its inverse.
            turn: std::array::from_fn(|r| std::array::from_fn(|c| turn[(c, r)] as f32)),
            base_m: base.translation.vector.map(|x| x as f32).into(),
            per_metre: 2.0 / scale,
            sense_m: settings.sense_m as f32 * scale,
            ahead_m: settings.ahead_m as f32 * scale,
        };
        observe(self.kinematics.isa(), &view, &mut self.features);
        for (lane, row) in rows.chunks_exact_mut(inputs).enumerate().take(LANES) {
            for (to, from) in row.iter_mut().zip(&self.features) {
                *to = from.0[lane];
            }
        }
    }
}
