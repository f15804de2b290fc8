//! A description guessed from a model: which joints are the arm, what its gripper does, where its
//! tool is, its limits and where it stands at rest.

mod chains;
mod hand;
mod pick;
mod pictures;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use citrange_core::robot::{BodyFrame, Gripper, HandModel, JointLimits, PerJoint, Servo};
use citrange_core::{RobotDescription, Scene};
use mujoco_rs::prelude::*;

use crate::catalog::SceneSource;
use crate::compile::{Change, CompiledScene};
use crate::error::SimError;
use crate::home::{home, key_names, place_followers};
use crate::layout::{Layout, Tree, name_of};
use crate::mesh_boxes;
use crate::model_file::Origin;
use crate::robot::scene_of;
use crate::servos::made_gains;
use chains::ArmChain;

/// Name of the start pose that is written down.
const HOME: &str = "home";
/// Keyframes that become poses.
const MOST_POSES: usize = 8;
/// Overlap that a pose may have.
const OVERLAP_M: f64 = 0.001;
/// Speeds that are taken where the model says none: of hinges, of slides, of fingers that slide.
const USUAL_RAD_S: f64 = 1.5;
const USUAL_M_S: f64 = 0.2;
const USUAL_FINGER_M_S: f64 = 0.05;
/// Acceleration per speed and jerk per acceleration, 1/s.
const ACCELERATION_PER_SPEED: f64 = 5.0;
const JERK_PER_ACCELERATION: f64 = 20.0;
/// Force of a finger that holds things surely.
const FIRM_N: f64 = 5.0;
/// Name of gains that are made where the model's own friction is stronger than its servos, and the
/// error at which those overcome it, rad and m.
const STRONG: &str = "strong";
const STRONG_BAND: f64 = 0.01;
const STRONG_BAND_M: f64 = 0.003;
/// Ends of a joint that has none.
const ENDLESS: [f64; 2] = [-std::f64::consts::TAU, std::f64::consts::TAU];
/// What names of a tool's frame have in them; what is at the tips first.
const TOOL_WORDS: [&str; 8] =
    ["pinch", "tcp", "grasp", "grip_site", "gripperframe", "end_effector", "eef", "tool"];
/// What names of a flange's frame have in them.
const FLANGE_WORDS: [&str; 6] = ["attachment", "tool0", "flange", "ee_", "eef", "tool"];

/// A description that was guessed.
#[derive(Clone, Debug)]
pub struct Guess {
    /// What was found.
    pub description: RobotDescription,
    /// What people should look at, a line each.
    pub notes: Vec<String>,
    /// Joints of the model that have no position servo: with the description they get one.
    pub needs_servos: Vec<String>,
    /// Whether the model says itself where it starts.
    pub has_keyframes: bool,
}

/// Guesses the description of a model file. `root`: the one robot of it that is meant, by the name
/// of its first body. `hand`: a gripper's model that is put onto it.
///
/// # Errors
/// When the model cannot be read, or no arm is found in it.
pub fn describe(
    model: &str,
    folder: &Path,
    root: Option<&str>,
    hand: Option<&HandModel>,
) -> Result<Guess, SimError> {
    const NAME: &str = "robot";
    let mut scene = scene_of(NAME, model);
    scene.rates = citrange_core::Rates { physics_hz: 500, control_hz: 100, frame_hz: 20 };
    let source = SceneSource { scene, folder: folder.to_owned() };
    let change = Change { robot: NAME, root, hand, description: None };
    let compiled = CompiledScene::changed(&source, change)?;
    let fail = |reason: String| SimError::Scene { scene: model.to_owned(), reason };
    let placed = Placed { compiled: &compiled, name: NAME };
    let mut guess = placed.guess().map_err(fail)?;
    let path = Path::new(model);
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("robot").to_owned();
    guess.description.name = root.map_or(stem, |root| root.replace('/', "_"));
    guess.description.title = guess.description.name.clone();
    guess.description.model = model.to_owned();
    guess.description.root = root.map(str::to_owned);
    guess.description.hand = hand.cloned();
    guess.notes.extend(compiled.notes().map(|(_, note)| note.to_owned()));
    // Without it everything but pick and place works: why not is no matter here.
    if let Err(error) = guess.add_pick(model, folder) {
        tracing::debug!("no pose to pick from: {error}");
    }
    Ok(guess)
}

/// Guesses the descriptions of robots that have none; answers why others have none still.
pub(crate) fn guess_missing(
    model: &MjModel,
    scene: &Scene,
    robots: &mut BTreeMap<String, RobotDescription>,
    foreign: &BTreeMap<String, Origin>,
) -> Result<BTreeMap<String, String>, SimError> {
    let mut why_not = BTreeMap::new();
    if scene.robots.keys().all(|name| robots.contains_key(name)) {
        return Ok(why_not);
    }
    let layout = Layout::new(model, scene, robots)?;
    let fail = |reason: String| SimError::Scene { scene: scene.name.clone(), reason };
    let (qpos, ctrl) = home(model, &layout, scene, robots).map_err(fail)?;
    for name in
        scene.robots.keys().filter(|name| !robots.contains_key(*name)).cloned().collect::<Vec<_>>()
    {
        let facts = foreign.get(&name).cloned().unwrap_or_default();
        let tree = &layout.robots[&name];
        let guess = Guesser { model, tree, name: &name, qpos: &qpos, ctrl: &ctrl, facts: &facts };
        match guess.guess(false) {
            Err(reason) => {
                why_not.insert(name, reason);
            }
            Ok(guess) if !guess.needs_servos.is_empty() => {
                let joints = guess.needs_servos.join(", ");
                why_not.insert(name, format!("its joints {joints} have no position servos"));
            }
            Ok(mut guess) => {
                guess.description.model.clone_from(&scene.robots[&name].model);
                guess.description.base_height_m = 0.0;
                guess.description.name.clone_from(&name);
                robots.insert(name, guess.description);
            }
        }
    }
    Ok(why_not)
}

/// A robot in a scene.
struct Placed<'a> {
    compiled: &'a CompiledScene,
    name: &'a str,
}

impl Placed<'_> {
    fn guess(&self) -> Result<Guess, String> {
        let compiled = self.compiled;
        let facts = compiled.foreign.get(self.name).cloned().unwrap_or_default();
        Guesser {
            model: compiled.model.as_ref(),
            tree: &compiled.layout.robots[self.name],
            name: self.name,
            qpos: &compiled.home_qpos,
            ctrl: &compiled.home_ctrl,
            facts: &facts,
        }
        .guess(true)
    }
}

struct Guesser<'a> {
    model: &'a MjModel,
    tree: &'a Tree,
    name: &'a str,
    qpos: &'a [f64],
    ctrl: &'a [f64],
    facts: &'a Origin,
}

impl Guesser<'_> {
    /// `choose_home`: also looks for a better start pose where the model has no keyframe.
    fn guess(&self, choose_home: bool) -> Result<Guess, String> {
        let chain = chains::find(self.model, self.tree)?;
        let joints = &self.tree.joints;
        let mut notes = Vec::new();
        if !chain.others.is_empty() {
            let names: Vec<&str> =
                chain.others.iter().map(|j| joints[*j].name.as_str()).take(4).collect();
            notes.push(format!(
                "{} other chains stay where they are (they begin with {}); --root BODY describes \
                 the robot that hangs on another body",
                chain.others.len(),
                names.join(", ")
            ));
        }
        let keys = key_names(self.model, self.name);
        let mut qpos = self.qpos.to_vec();
        let hand = hand::find(self.model, self.tree, &chain, &qpos, self.ctrl);
        if choose_home && keys.is_empty() {
            for gripper in hand.iter().map(|hand| &hand.gripper) {
                for (name, open) in gripper.joints.iter().zip(&gripper.open) {
                    if let Some(joint) = joints.iter().find(|joint| joint.name == *name) {
                        qpos[joint.qpos] = *open;
                    }
                }
            }
            qpos = self.better_home(&chain, &qpos, &mut notes);
        }
        if hand.is_none() && !chain.jaws.is_empty() {
            notes.push("nothing drives what hangs on its hand: no gripper".to_owned());
        }
        let arm_joints: Vec<String> = chain.arm.iter().map(|j| joints[*j].name.clone()).collect();
        let gripper = hand.as_ref().map(|hand| hand.gripper.clone());
        let mut sites = BTreeMap::new();
        let mut frames = BTreeMap::new();
        let grasp = self.tool(&chain, hand.as_ref(), &mut sites, &mut frames, &mut notes);
        frames.insert("wrist".to_owned(), self.wrist(&chain));
        let described: Vec<&str> = arm_joints
            .iter()
            .chain(gripper.iter().flat_map(|g| &g.joints))
            .map(String::as_str)
            .collect();
        let index = |name: &str| joints.iter().position(|j| j.name == name);
        let described: Vec<usize> = described.into_iter().filter_map(index).collect();
        let at = |qpos: &[f64]| described.iter().map(|j| rounded(qpos[joints[*j].qpos])).collect();
        let mut poses: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let nq = self.model.ffi().nq as usize;
        for (key, name) in keys.iter().take(MOST_POSES) {
            poses.insert(name.clone(), at(&self.model.key_qpos()[key * nq..(key + 1) * nq]));
        }
        let first = keys.iter().find(|(_, name)| name == HOME).or(keys.first());
        let home = first.map_or(HOME.to_owned(), |(_, name)| name.clone());
        poses.insert(home.clone(), at(&qpos));
        let (joint_limits, guessed) = self.limits(&described, chain.arm.len());
        if !guessed.is_empty() {
            notes.push(format!("speeds are guessed, the model has none: {}", guessed.join(", ")));
        }
        let undriven = |j: &&usize| {
            let joint = &joints[**j];
            joint.drive.is_none()
                && joint.follows.is_none()
                && (chain.arm.contains(j)
                    || joint.motor.is_some()
                    || joint.velocity_servo.is_some())
        };
        let needs_servos: Vec<String> =
            described.iter().filter(undriven).map(|j| joints[*j].name.clone()).collect();
        let mut servos = BTreeMap::new();
        if !needs_servos.is_empty() {
            servos.insert(
                "default".to_owned(),
                self.servos(&described, &needs_servos, &joint_limits),
            );
            notes.push(format!("position servos are made for {}", needs_servos.join(", ")));
        }
        let stuck = described.iter().filter_map(|j| joints[*j].why_stuck(self.model));
        let mut stuck: Vec<String> = stuck.collect();
        let grips = |j: &usize| self.firm_grip(*j, gripper.as_ref()).is_some();
        if let Some(weak) = described.iter().find(|j| grips(j)) {
            let name = &joints[*weak].name;
            stuck.push(format!("half open, {name} presses with less than {FIRM_N} N"));
        }
        if !stuck.is_empty() {
            servos.insert(STRONG.to_owned(), self.strong_servos(&described, gripper.as_ref()));
            notes.push(format!("{}; `servo: {STRONG}` in the scene moves it", stuck.join(", ")));
        }
        let description = RobotDescription {
            name: self.name.to_owned(),
            title: self.name.to_owned(),
            model: String::new(),
            root: None,
            hand: None,
            packages: Vec::new(),
            base_height_m: self.base_height(&chain),
            arm_joints,
            gripper,
            grasp,
            sites,
            frames,
            home,
            poses,
            joint_limits,
            servos,
        };
        description.check()?;
        Ok(Guess { description, notes, needs_servos, has_keyframes: !keys.is_empty() })
    }

    /// The first of some usual poses in which the robot touches neither itself nor its floor.
    fn better_home(&self, chain: &ArmChain, start: &[f64], notes: &mut Vec<String>) -> Vec<f64> {
        let mut data = MjData::new(self.model);
        let base_z = self.model.body_pos()[self.tree.bodies.start][2];
        let mut depth = |qpos: &[f64]| {
            data.qpos_mut().copy_from_slice(qpos);
            data.step1();
            let own = |geom: i32| {
                usize::try_from(geom).is_ok_and(|geom| {
                    self.tree.bodies.contains(&(self.model.geom_bodyid()[geom] as usize))
                })
            };
            let contacts = data.contact().iter().filter(|c| own(c.geom[0]) && own(c.geom[1]));
            let overlap = contacts.map(|c| -c.dist).fold(0.0, f64::max);
            let moved = chain.arm.iter().skip(1).map(|j| {
                let body = self.model.jnt_bodyid()[self.tree.joints[*j].id] as usize;
                base_z - data.xpos()[body][2]
            });
            overlap.max(moved.fold(0.0, f64::max))
        };
        let posed = |fraction: &dyn Fn(usize, [f64; 2]) -> f64| {
            let mut qpos = start.to_vec();
            for (number, j) in chain.arm.iter().enumerate() {
                let joint = &self.tree.joints[*j];
                let range = joint.range.unwrap_or([-1.5, 1.5]);
                qpos[joint.qpos] = fraction(number, range);
            }
            place_followers(self.tree, &mut qpos);
            qpos
        };
        let between = |[low, high]: [f64; 2], f: f64| low + f * (high - low);
        let inside = |range: [f64; 2], at: f64| at.clamp(range[0], range[1]);
        let bends = [0.0, -0.6, 0.9, -0.9, 0.9, 0.6, 0.0, 0.0];
        let candidates = [
            start.to_vec(),
            posed(&|_, range| between(range, 0.5)),
            posed(&|n, range| inside(range, bends.get(n).copied().unwrap_or(0.0))),
            posed(&|n, range| inside(range, -bends.get(n).copied().unwrap_or(0.0))),
            posed(&|n, range| between(range, if n % 2 == 0 { 0.5 } else { 0.35 })),
            posed(&|n, range| between(range, if n % 2 == 0 { 0.5 } else { 0.65 })),
        ];
        let depths: Vec<f64> = candidates.iter().map(|qpos| depth(qpos)).collect();
        let best = depths.iter().position(|d| *d < OVERLAP_M).unwrap_or_else(|| {
            let least = depths.iter().copied().fold(f64::INFINITY, f64::min);
            depths.iter().position(|d| *d <= least).unwrap_or(0)
        });
        if depths[best] >= OVERLAP_M {
            notes.push(format!(
                "no pose was found in which it is free: in the start pose something is {:.0} mm \
                 too deep",
                depths[best] * 1e3
            ));
        }
        candidates.into_iter().nth(best).unwrap_or_else(|| start.to_vec())
    }

    /// Names the tool's frame, and answers how the gripper takes things.
    fn tool(
        &self,
        chain: &ArmChain,
        hand: Option<&hand::Hand>,
        sites: &mut BTreeMap<String, String>,
        frames: &mut BTreeMap<String, BodyFrame>,
        notes: &mut Vec<String>,
    ) -> Option<citrange_core::robot::Grasp> {
        const TOOL: &str = "tool";
        let last = chain.arm.last().map_or(0, |j| self.tree.joints[*j].id);
        let last = self.model.jnt_bodyid()[last] as usize;
        let fixed_to_hand = |body: usize| {
            std::iter::successors(Some(body), |b| {
                (*b != last && *b > 0 && self.model.body_jntnum()[*b] == 0)
                    .then(|| self.model.body_parentid()[*b] as usize)
            })
            .any(|b| b == last)
        };
        if let Some(hand) = hand {
            let pose: citrange_core::Pose = hand.body_from_tool.into();
            frames.insert(
                TOOL.to_owned(),
                BodyFrame {
                    body: self.body_name(hand.body),
                    pos_m: pose.pos_m.map(rounded),
                    quat_wxyz: pose.quat_wxyz.map(rounded),
                },
            );
            return Some(hand.grasp);
        }
        let prefix = format!("{}/", self.name);
        for words in [&TOOL_WORDS[..], &FLANGE_WORDS[..]] {
            let has = |name: &str| words.iter().any(|word| name.to_lowercase().contains(word));
            for site in 0..self.model.ffi().nsite as usize {
                let name = name_of(self.model, MjtObjBase::mjOBJ_SITE, site, "site");
                let Some(own) = name.strip_prefix(&prefix) else { continue };
                if has(own) && fixed_to_hand(self.model.site_bodyid()[site] as usize) {
                    sites.insert(TOOL.to_owned(), own.to_owned());
                    return None;
                }
            }
            let body =
                self.tree.bodies.clone().rev().find(|body| {
                    *body != last && fixed_to_hand(*body) && has(&self.body_name(*body))
                });
            if let Some(body) = body {
                frames.insert(TOOL.to_owned(), on(self.body_name(body), [0.0; 3]));
                return None;
            }
        }
        let body = self.tree.bodies.clone().rev().find(|body| fixed_to_hand(*body)).unwrap_or(last);
        notes.push(format!("no frame of a tool is known: taken at body {}", self.body_name(body)));
        frames.insert(TOOL.to_owned(), on(self.body_name(body), [0.0; 3]));
        None
    }

    /// The joint before the last, around which arms of 5 joints tilt their hand; of 4 the last.
    fn wrist(&self, chain: &ArmChain) -> BodyFrame {
        let arm = &chain.arm;
        // The first three joints of an arm must move its wrist.
        let joint = arm[if arm.len() == 4 { 3 } else { arm.len() - 2 }];
        let id = self.tree.joints[joint].id;
        on(
            self.body_name(self.model.jnt_bodyid()[id] as usize),
            self.model.jnt_pos()[id].map(rounded),
        )
    }

    fn body_name(&self, body: usize) -> String {
        let at = body.checked_sub(self.tree.bodies.start);
        at.and_then(|at| self.tree.body_names.get(at)).cloned().unwrap_or_default()
    }

    fn limits(
        &self,
        described: &[usize],
        arm: usize,
    ) -> (BTreeMap<String, JointLimits>, Vec<String>) {
        let mut guessed = Vec::new();
        let mut limits = BTreeMap::new();
        for (number, j) in described.iter().enumerate() {
            let joint = &self.tree.joints[*j];
            let is_slide = self.model.jnt_type()[joint.id] == MjtJoint::mjJNT_SLIDE;
            let said = self.facts.joints.get(&joint.name).and_then(|facts| facts.velocity);
            if said.is_none() {
                guessed.push(joint.name.clone());
            }
            let usual = match (is_slide, number < arm) {
                (false, _) => USUAL_RAD_S,
                (true, true) => USUAL_M_S,
                (true, false) => USUAL_FINGER_M_S,
            };
            let speed = said.unwrap_or(usual);
            let acceleration = rounded(speed * ACCELERATION_PER_SPEED);
            let jerk = rounded(acceleration * JERK_PER_ACCELERATION);
            let motor = joint.motor.filter(|motor| self.model.actuator_ctrllimited()[*motor]);
            let effort = joint.max_effort(self.model).or(motor.map(|motor| {
                let gear = self.model.actuator_gear()[motor][0].abs();
                let gain = self.model.actuator_gainprm()[motor][0].abs();
                self.model.actuator_ctrlrange()[motor][1] * gear * gain
            }));
            let effort = effort.filter(|e| *e > 0.0).map(rounded);
            let endless = number < arm && joint.commanded_range(self.model, None).is_none();
            let mut limit =
                JointLimits { range: endless.then_some(ENDLESS), ..JointLimits::default() };
            if is_slide {
                limit.velocity_m_s = Some(speed);
                limit.acceleration_m_s2 = Some(acceleration);
                limit.jerk_m_s3 = Some(jerk);
                limit.effort_n = effort;
            } else {
                limit.velocity_rad_s = Some(speed);
                limit.acceleration_rad_s2 = Some(acceleration);
                limit.jerk_rad_s3 = Some(jerk);
                limit.effort_nm = effort;
            }
            limits.insert(joint.name.clone(), limit);
        }
        (limits, guessed)
    }

    /// Gains for all joints: those of the model, and made ones where a servo is needed.
    fn servos(
        &self,
        described: &[usize],
        needs: &[String],
        limits: &BTreeMap<String, JointLimits>,
    ) -> Servo {
        let (mut kp, mut kv, mut force) = (Vec::new(), Vec::new(), Vec::new());
        for joint in described.iter().map(|j| &self.tree.joints[*j]) {
            let limit = limits.get(&joint.name);
            let effort = limit.and_then(|l| l.effort_nm.or(l.effort_n));
            let made = made_gains(self.model.dof_m0()[joint.dof], effort);
            let (stiffness, damping) = match joint.drive {
                Some(drive) => (drive.stiffness(self.model), drive.damping(self.model)),
                None if needs.contains(&joint.name) => (made.kp, made.kv),
                // A linkage takes it along.
                None => (0.0, 0.0),
            };
            kp.push(rounded(stiffness));
            kv.push(rounded(damping));
            force.push(effort.unwrap_or(0.0));
        }
        Servo { kp: PerJoint::Each(kp), kv: PerJoint::Each(kv), force: PerJoint::Each(force) }
    }

    /// The stiffness of a sliding finger that presses firmly when it is half open, where the
    /// model's servo does not.
    fn firm_grip(&self, j: usize, gripper: Option<&Gripper>) -> Option<f64> {
        let joint = &self.tree.joints[j];
        let gripper = gripper?;
        let at = gripper.joints.iter().position(|name| *name == joint.name)?;
        let is_slide = self.model.jnt_type()[joint.id] == MjtJoint::mjJNT_SLIDE;
        let stiffness = joint.drive.filter(|_| is_slide)?.stiffness(self.model);
        let way_m = (gripper.open[at] - gripper.closed[at]).abs() / 2.0;
        // What one servo pulls shares its force.
        let leads = self.tree.joints.iter().filter(|other| {
            other.follows.is_some_and(|follow| follow.leader == j) && other.drive.is_none()
        });
        let firm = FIRM_N * (1 + leads.count()) as f64 / way_m;
        (stiffness < firm && stiffness > 0.0).then_some(2.0 * firm)
    }

    /// The model's gains, made stiffer where friction holds a joint and where fingers are weak.
    fn strong_servos(&self, described: &[usize], gripper: Option<&Gripper>) -> Servo {
        let (mut kp, mut kv, mut force) = (Vec::new(), Vec::new(), Vec::new());
        for j in described {
            let joint = &self.tree.joints[*j];
            let (stiffness, damping) = joint.drive.map_or((0.0, 0.0), |drive| {
                (drive.stiffness(self.model), drive.damping(self.model))
            });
            if let Some(firm) = self.firm_grip(*j, gripper) {
                let friction = self.model.dof_frictionloss()[joint.dof];
                let firm = firm.max(friction / STRONG_BAND_M);
                kp.push(rounded(firm));
                kv.push(rounded(damping * (firm / stiffness).sqrt()));
                force.push(0.0);
                continue;
            }
            let is_stuck = joint.why_stuck(self.model).is_some();
            let friction = self.model.dof_frictionloss()[joint.dof];
            let is_slide = self.model.jnt_type()[joint.id] == MjtJoint::mjJNT_SLIDE;
            let band = if is_slide { STRONG_BAND_M } else { STRONG_BAND };
            let strong = if is_stuck { friction / band } else { stiffness };
            let inertia = self.model.dof_m0()[joint.dof].max(1e-5);
            kp.push(rounded(strong));
            kv.push(rounded(if is_stuck { 2.0 * (strong * inertia).sqrt() } else { damping }));
            let effort = joint.max_effort(self.model);
            let enough = if is_stuck { 2.0 * friction } else { 0.0 };
            force.push(rounded(effort.map_or(0.0, |effort| effort.max(enough))));
        }
        Servo { kp: PerJoint::Each(kp), kv: PerJoint::Each(kv), force: PerJoint::Each(force) }
    }

    /// Height of a geom's lowest point in the world.
    fn lowest(&self, data: &MjData<&MjModel>, geom: usize) -> f64 {
        let rotation = data.geom_xmat()[geom];
        let up = nalgebra::Vector3::new(rotation[6], rotation[7], rotation[8]);
        let corners = || {
            let all = hand::corners(data, geom).into_iter();
            all.map(|corner| corner.z).fold(f64::INFINITY, f64::min)
        };
        match mesh_boxes::lowest(self.model, geom, &up) {
            Some(lowest) => data.geom_xpos()[geom][2] + lowest,
            None => corners(),
        }
    }

    /// How far what does not move reaches below the base's origin.
    fn base_height(&self, chain: &ArmChain) -> f64 {
        let mut data = MjData::new(self.model);
        data.qpos_mut().copy_from_slice(self.qpos);
        data.step1();
        let root = self.tree.bodies.start;
        let first = chain
            .arm
            .first()
            .map_or(root, |j| self.model.jnt_bodyid()[self.tree.joints[*j].id] as usize);
        let lowest = (0..self.model.ffi().ngeom as usize)
            .filter(|geom| {
                (root..first.max(root + 1)).contains(&(self.model.geom_bodyid()[*geom] as usize))
            })
            .filter(|geom| self.model.body_weldid()[self.model.geom_bodyid()[*geom] as usize] == 0)
            .map(|geom| self.lowest(&data, geom) - data.xpos()[root][2])
            .fold(0.0, f64::min);
        if (-0.3..-0.0005).contains(&lowest) { rounded(-lowest) } else { 0.0 }
    }
}

fn on(body: String, pos_m: [f64; 3]) -> BodyFrame {
    BodyFrame { body, pos_m, quat_wxyz: [1.0, 0.0, 0.0, 0.0] }
}

/// Six digits are enough for what was guessed.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6 + 0.0
}

impl Guess {
    /// As YAML, with what to look at as comments.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        text::yaml(self)
    }
}
