//! Writing: a state sets what it names and leaves the rest; nothing is dropped in silence.
//!
//! All or nothing: names, shapes and numbers are checked first, and if a derived field (body
//! states) turns out not to follow from what was set, every environment is put back.

use citrange_core::state::BODY_STATE;
use citrange_core::{DictObjectState, DictState, ObjectState, RobotState, TensorState};
use ndarray::ArrayView2;

use crate::drive::why_not_driven;
use crate::error::SimError;
use crate::free_root::{body_from_world, world_from_body};
use crate::layout::{Joint, Layout, Part, Root, Tree};
use crate::snapshot::INTEGRATION;
use crate::world::{Data, World};

/// How far a derived or fixed value may differ from what the engine computes.
const DERIVED_TOLERANCE: f64 = 1e-6;
/// How far a quaternion's length may differ from 1.
const QUAT_TOLERANCE: f64 = 1e-4;

/// What happened to the parts of a state that cannot be set because they are observations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetReport {
    /// Cameras and extras in the state: pictures and measurements, not settable.
    pub observations: Vec<String>,
}

/// One thing to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    RootPos,
    RootQuat,
    RootLin,
    RootAng,
    JointPos(usize),
    JointVel(usize),
    PosTarget(usize),
    VelTarget(usize),
    Effort(usize),
    /// Derived: compared after all else is set.
    Body(usize),
}

/// Where the numbers of an assignment come from.
enum Values<'a> {
    /// Columns `from..from + len` of the row of each environment.
    Columns { array: ArrayView2<'a, f64>, from: usize, len: usize },
    /// The same numbers for the one environment at hand.
    Given(Vec<f64>),
}

struct Assignment<'a> {
    tree: &'a Tree,
    path: String,
    field: Field,
    values: Values<'a>,
}

impl Assignment<'_> {
    fn numbers(&self, row: usize) -> Vec<f64> {
        match &self.values {
            Values::Columns { array, from, len } => {
                (*from..from + len).map(|column| array[[row, column]]).collect()
            }
            Values::Given(numbers) => numbers.clone(),
        }
    }
}

impl World {
    /// Sets the state of all environments, or row `i` into environment `env_ids[i]`.
    ///
    /// Names decide: joints may be in any order and partial. Velocities are those of the origin
    /// in the world frame. The solver's warm start is cleared where joints were set, so that
    /// the future depends on the state alone; for an exact continuation use a snapshot.
    ///
    /// # Errors
    /// Unknown names, wrong shapes, numbers that are not finite, fields that the engine cannot
    /// set. Then nothing changes.
    pub fn set_state(
        &mut self,
        state: &TensorState,
        env_ids: Option<&[usize]>,
    ) -> Result<SetReport, SimError> {
        let ids = self.env_ids(env_ids)?;
        state.check()?;
        check_count(state.num_envs, ids.len())?;
        let scene = std::sync::Arc::clone(&self.scene);
        let plan = tensor_plan(&scene.layout, state)?;
        let rows: Vec<(usize, usize)> = ids.into_iter().enumerate().collect();
        self.apply(rows.iter().map(|(row, env)| (*env, *row, plan.as_slice())))?;
        Ok(report(state.cameras.keys(), state.extras.keys()))
    }

    /// Sets `states[i]` into environment `i`, or into environment `env_ids[i]`.
    ///
    /// # Errors
    /// As [`World::set_state`].
    pub fn set_dict_states(
        &mut self,
        states: &[DictState],
        env_ids: Option<&[usize]>,
    ) -> Result<SetReport, SimError> {
        let ids = self.env_ids(env_ids)?;
        check_count(states.len(), ids.len())?;
        let scene = std::sync::Arc::clone(&self.scene);
        let mut plans = Vec::with_capacity(states.len());
        for state in states {
            plans.push(dict_plan(&scene.layout, state)?);
        }
        self.apply(ids.iter().zip(&plans).map(|(env, plan)| (*env, 0, plan.as_slice())))?;
        let first = states.first();
        Ok(report(
            first.iter().flat_map(|s| s.cameras.keys()),
            first.iter().flat_map(|s| s.extras.keys()),
        ))
    }

    /// Sets position targets of all joints of a robot: (environments, joints) numbers, row by row.
    /// Joints that others take along go with them, whatever is said for them.
    ///
    /// # Errors
    /// When the robot is not known, the length is wrong, a number is not finite, or a joint has
    /// no position servo. Then nothing changes.
    pub fn set_joint_targets(&mut self, robot: &str, targets: &[f64]) -> Result<(), SimError> {
        let scene = std::sync::Arc::clone(&self.scene);
        let tree = scene.layout.robot(robot)?;
        let undriven = |j: &&Joint| j.drive.is_none() && j.follows.is_none();
        if let Some(joint) = tree.joints.iter().find(undriven) {
            return Err(SimError::State {
                env: 0,
                field: format!("robots.{robot}.{}", joint.name),
                reason: why_not_driven(&scene.model, joint),
            });
        }
        self.set_targets(robot, tree, &(0..tree.joints.len()).collect::<Vec<_>>(), targets)
    }

    /// As [`World::set_joint_targets`], for the joints of [`crate::CompiledScene::driven_joints`] only;
    /// all others keep their commands.
    ///
    /// # Errors
    /// When the robot is not known, the length is wrong or a number is not finite. Then nothing
    /// changes.
    pub fn set_driven_targets(&mut self, robot: &str, targets: &[f64]) -> Result<(), SimError> {
        let scene = std::sync::Arc::clone(&self.scene);
        let tree = scene.layout.robot(robot)?;
        self.set_targets(robot, tree, &tree.driven, targets)
    }

    fn set_targets(
        &mut self,
        robot: &str,
        tree: &Tree,
        which: &[usize],
        targets: &[f64],
    ) -> Result<(), SimError> {
        let joints = which.len();
        let expected = joints * self.envs.len();
        if targets.len() != expected {
            let what = format!("targets of {robot} (environments x joints)");
            return Err(SimError::Length { what, found: targets.len(), expected });
        }
        if let Some(bad) = targets.iter().position(|t| !t.is_finite()) {
            return Err(SimError::State {
                env: bad / joints,
                field: format!("robots.{robot}.{} target", tree.joints[which[bad % joints]].name),
                reason: format!("{} is not a finite number", targets[bad]),
            });
        }
        if joints == 0 {
            return Ok(());
        }
        let (row_len, shown) = (self.scene.layout.row_len, tree.row.pos_target);
        for (env, targets) in targets.chunks_exact(joints).enumerate() {
            let ctrl = self.envs[env].data.ctrl_mut();
            for (joint, target) in which.iter().zip(targets) {
                let Some(drive) = tree.joints[*joint].drive else { continue };
                let command = drive.command(*target);
                ctrl[drive.actuator] = command;
                if let Some(from) = shown {
                    self.rows[env * row_len + from + joint] = drive.position(command);
                }
            }
        }
        Ok(())
    }

    /// Applies plans to environments; puts all of them back if any fails.
    fn apply<'a>(
        &mut self,
        jobs: impl Iterator<Item = (usize, usize, &'a [Assignment<'a>])> + Clone,
    ) -> Result<(), SimError> {
        let saved: Vec<(usize, Box<[f64]>)> =
            jobs.clone().map(|(env, ..)| (env, self.envs[env].data.state(INTEGRATION))).collect();
        let mut outcome = Ok(());
        for (env, row, plan) in jobs {
            outcome = self.apply_one(env, row, plan);
            if outcome.is_err() {
                break;
            }
        }
        if outcome.is_err() {
            for (env, state) in saved {
                let back = self.envs[env].data.set_state(&state, INTEGRATION);
                back.map_err(|e| SimError::Mujoco(e.to_string()))?;
                self.refresh(env);
            }
        }
        outcome
    }

    fn apply_one(&mut self, env: usize, row: usize, plan: &[Assignment]) -> Result<(), SimError> {
        let fail =
            |a: &Assignment, reason: String| SimError::State { env, field: a.path.clone(), reason };
        let mut moved = false;
        for a in plan {
            let numbers = a.numbers(row);
            let absent = matches!(a.field, Field::PosTarget(_) | Field::VelTarget(_))
                && !has_servo(a.tree, a.field);
            if let Some(bad) = numbers.iter().find(|n| !n.is_finite()) {
                // A joint without such a servo reads as NaN; that is no command.
                if absent && bad.is_nan() {
                    continue;
                }
                return Err(fail(a, format!("{bad} is not a finite number")));
            }
            let data = &mut self.envs[env].data;
            moved |= set_field(data, a, &numbers).map_err(|reason| fail(a, reason))?;
        }
        let qpos = self.envs[env].data.qpos();
        for a in plan {
            let Field::JointPos(joint) = a.field else { continue };
            let Part::Quat { start } = a.tree.joints[joint].part else { continue };
            let length = qpos[start..start + 4].iter().map(|c| c * c).sum::<f64>().sqrt();
            if (length - 1.0).abs() > QUAT_TOLERANCE {
                return Err(fail(
                    a,
                    format!("the orientation has length {length}, it must have 1"),
                ));
            }
        }
        if moved {
            self.envs[env].data.qacc_warmstart_mut().fill(0.0);
        }
        self.refresh(env);
        self.check_derived(env, row, plan)
    }

    /// Compares body states in a plan with what follows from roots and joints.
    fn check_derived(&self, env: usize, row: usize, plan: &[Assignment]) -> Result<(), SimError> {
        let row_len = self.scene.layout.row_len;
        for a in plan {
            // Which of the numbers of a body, and where its orientation is among them.
            let (body, part, quat) = match a.field {
                Field::Body(body) => (body, 0..BODY_STATE, 3..7),
                Field::RootPos if a.tree.root_moves => (0, 0..3, 0..0),
                Field::RootQuat if a.tree.root_moves => (0, 3..7, 0..4),
                Field::RootLin if a.tree.root_moves => (0, 7..10, 0..0),
                Field::RootAng if a.tree.root_moves => (0, 10..13, 0..0),
                _ => continue,
            };
            let at = env * row_len + a.tree.row.bodies + body * BODY_STATE;
            let computed = &self.rows[at..at + BODY_STATE][part];
            let given = a.numbers(row);
            // A quaternion and its negative are the same orientation.
            let dot: f64 = quat.clone().map(|i| computed[i] * given[i]).sum();
            let sign = if dot < 0.0 { -1.0 } else { 1.0 };
            for (index, (c, g)) in computed.iter().zip(&given).enumerate() {
                let c = if quat.contains(&index) { sign * c } else { *c };
                let error = (c - g).abs();
                if error > DERIVED_TOLERANCE * (1.0 + c.abs()) {
                    return Err(SimError::State {
                        env,
                        field: a.path.clone(),
                        reason: format!(
                            "body states follow from root and joints; number {index} would be \
                             {c}, given is {g}: set root_state and joint_pos instead"
                        ),
                    });
                }
            }
        }
        Ok(())
    }
}

fn check_count(found: usize, expected: usize) -> Result<(), SimError> {
    if found == expected {
        return Ok(());
    }
    Err(SimError::Length { what: "environments in the state".into(), found, expected })
}

fn report<'a>(
    cameras: impl Iterator<Item = &'a String>,
    extras: impl Iterator<Item = &'a String>,
) -> SetReport {
    let cameras = cameras.map(|name| format!("cameras.{name}"));
    SetReport { observations: cameras.chain(extras.map(|n| format!("extras.{n}"))).collect() }
}

fn has_servo(tree: &Tree, field: Field) -> bool {
    match field {
        Field::PosTarget(j) => tree.joints[j].drive.is_some(),
        Field::VelTarget(j) => tree.joints[j].velocity_servo.is_some(),
        _ => true,
    }
}

/// Writes one field; says whether joints or velocities changed.
fn set_field(data: &mut Data, a: &Assignment, n: &[f64]) -> Result<bool, String> {
    let fixed = |now: [f64; 3], what: &str| {
        let off = (0..3).map(|i| (now[i] - n[i]).abs()).fold(0.0, f64::max);
        if off > DERIVED_TOLERANCE {
            return Err(format!("the root is fixed to the world with {what} {now:?}, given {n:?}"));
        }
        Ok(false)
    };
    let body = a.tree.bodies.start;
    match (a.field, a.tree.root) {
        // It follows from the joints; compared with what they make of it.
        (Field::RootPos | Field::RootQuat | Field::RootLin | Field::RootAng, Root::Fixed)
            if a.tree.root_moves =>
        {
            Ok(false)
        }
        (Field::RootPos, Root::Fixed) => fixed(data.xpos()[body], "position"),
        (Field::RootLin | Field::RootAng, Root::Fixed) => fixed([0.0; 3], "velocity"),
        (Field::RootQuat, Root::Fixed) => {
            let now = data.xquat()[body];
            let dot: f64 = (0..4).map(|i| now[i] * n[i]).sum();
            if (dot.abs() - 1.0).abs() > DERIVED_TOLERANCE {
                return Err(format!("the root is fixed to the world, turned {now:?}, given {n:?}"));
            }
            Ok(false)
        }
        (Field::RootPos, Root::Free { qpos, .. }) => {
            data.qpos_mut()[qpos..qpos + 3].copy_from_slice(n);
            Ok(true)
        }
        (Field::RootQuat, Root::Free { qpos, dof }) => {
            let length = n.iter().map(|c| c * c).sum::<f64>().sqrt();
            if (length - 1.0).abs() > QUAT_TOLERANCE {
                return Err(format!("the quaternion {n:?} has length {length}, it must have 1"));
            }
            // The engine keeps the spin in the body's frame: turning the body must not turn it.
            let old = std::array::from_fn(|i| data.qpos()[qpos + 3 + i]);
            let spin = world_from_body(old, std::array::from_fn(|i| data.qvel()[dof + 3 + i]));
            data.qpos_mut()[qpos + 3..qpos + 7].copy_from_slice(n);
            let new = std::array::from_fn(|i| n[i]);
            data.qvel_mut()[dof + 3..dof + 6].copy_from_slice(&body_from_world(new, spin));
            Ok(true)
        }
        (Field::RootLin, Root::Free { dof, .. }) => {
            data.qvel_mut()[dof..dof + 3].copy_from_slice(n);
            Ok(true)
        }
        (Field::RootAng, Root::Free { qpos, dof }) => {
            let quat = std::array::from_fn(|i| data.qpos()[qpos + 3 + i]);
            let spin = body_from_world(quat, std::array::from_fn(|i| n[i]));
            data.qvel_mut()[dof + 3..dof + 6].copy_from_slice(&spin);
            Ok(true)
        }
        (Field::JointPos(j), _) => {
            data.qpos_mut()[a.tree.joints[j].qpos] = n[0];
            Ok(true)
        }
        (Field::JointVel(j) | Field::Effort(j), _) if a.tree.joints[j].part == Part::QuatW => {
            if n[0] != 0.0 {
                return Err("the first number of an orientation has no velocity: 0 is right".into());
            }
            Ok(false)
        }
        (Field::JointVel(j), _) => {
            data.qvel_mut()[a.tree.joints[j].dof] = n[0];
            Ok(true)
        }
        (Field::PosTarget(j), _) => {
            let drive = a.tree.joints[j].drive;
            let drive = drive.ok_or("the joint has no position servo: it takes no such target")?;
            data.ctrl_mut()[drive.actuator] = drive.command(n[0]);
            Ok(false)
        }
        (Field::VelTarget(j), _) => {
            let servo = a.tree.joints[j].velocity_servo;
            let servo = servo.ok_or("the joint has no velocity servo: it takes no such target")?;
            data.ctrl_mut()[servo] = n[0];
            Ok(false)
        }
        (Field::Effort(j), _) => {
            let joint = &a.tree.joints[j];
            match joint.motor {
                Some(motor) => data.ctrl_mut()[motor] = n[0],
                None => data.qfrc_applied_mut()[joint.dof] = n[0],
            }
            Ok(false)
        }
        (Field::Body(_), _) => Ok(false),
    }
}

/// Looks up every name of a tensor state once.
fn tensor_plan<'a>(
    layout: &'a Layout,
    state: &'a TensorState,
) -> Result<Vec<Assignment<'a>>, SimError> {
    let mut plan = Vec::new();
    for (name, object) in &state.objects {
        tensor_object(layout.object(name)?, &format!("objects.{name}"), object, &mut plan)?;
    }
    for (name, robot) in &state.robots {
        let tree = layout.robot(name)?;
        let path = format!("robots.{name}");
        tensor_object(tree, &path, &robot.object, &mut plan)?;
        tensor_targets(tree, &path, robot, &mut plan)?;
    }
    Ok(plan)
}

fn tensor_object<'a>(
    tree: &'a Tree,
    path: &str,
    object: &'a ObjectState,
    plan: &mut Vec<Assignment<'a>>,
) -> Result<(), SimError> {
    if let Some(root) = &object.root_state {
        let parts = [
            (Field::RootPos, 0, 3),
            (Field::RootQuat, 3, 4),
            (Field::RootLin, 7, 3),
            (Field::RootAng, 10, 3),
        ];
        for (field, from, len) in parts {
            let values = Values::Columns { array: root.view(), from, len };
            plan.push(Assignment { tree, path: format!("{path}.root_state"), field, values });
        }
    }
    tensor_joints(tree, path, "joint_pos", object, &object.joint_pos, Field::JointPos, plan)?;
    tensor_joints(tree, path, "joint_vel", object, &object.joint_vel, Field::JointVel, plan)?;
    if let Some(bodies) = &object.body_state {
        let (rows, count, _) = bodies.dim();
        let flat = bodies.view().into_shape_with_order((rows, count * BODY_STATE));
        let flat = flat.map_err(|e| SimError::Mujoco(format!("{path}.body_state: {e}")))?;
        for (index, name) in object.body_names.iter().enumerate() {
            let values = Values::Columns { array: flat, from: index * BODY_STATE, len: BODY_STATE };
            let field = Field::Body(find(&tree.body_names, "body", name)?);
            plan.push(Assignment {
                tree,
                path: format!("{path}.body_state.{name}"),
                field,
                values,
            });
        }
    }
    Ok(())
}

fn tensor_targets<'a>(
    tree: &'a Tree,
    path: &str,
    robot: &'a RobotState,
    plan: &mut Vec<Assignment<'a>>,
) -> Result<(), SimError> {
    let object = &robot.object;
    let (pos, vel, effort) =
        (&robot.joint_pos_target, &robot.joint_vel_target, &robot.joint_effort_target);
    tensor_joints(tree, path, "joint_pos_target", object, pos, Field::PosTarget, plan)?;
    tensor_joints(tree, path, "joint_vel_target", object, vel, Field::VelTarget, plan)?;
    tensor_joints(tree, path, "joint_effort_target", object, effort, Field::Effort, plan)
}

fn tensor_joints<'a>(
    tree: &'a Tree,
    path: &str,
    what: &str,
    object: &'a ObjectState,
    array: &'a Option<ndarray::Array2<f64>>,
    field: fn(usize) -> Field,
    plan: &mut Vec<Assignment<'a>>,
) -> Result<(), SimError> {
    let Some(array) = array else { return Ok(()) };
    for (column, name) in object.joint_names.iter().enumerate() {
        let joint = find_joint(tree, name)?;
        let values = Values::Columns { array: array.view(), from: column, len: 1 };
        let path = format!("{path}.{what}.{name}");
        plan.push(Assignment { tree, path, field: field(joint), values });
    }
    Ok(())
}

/// The same for one environment's dictionary.
fn dict_plan<'a>(
    layout: &'a Layout,
    state: &'a DictState,
) -> Result<Vec<Assignment<'a>>, SimError> {
    let mut plan = Vec::new();
    for (name, object) in &state.objects {
        dict_object(layout.object(name)?, &format!("objects.{name}"), object, &mut plan)?;
    }
    for (name, robot) in &state.robots {
        let tree = layout.robot(name)?;
        let path = format!("robots.{name}");
        dict_object(tree, &path, &robot.object, &mut plan)?;
        let dofs = [
            ("dof_pos_target", &robot.dof_pos_target, Field::PosTarget as fn(usize) -> Field),
            ("dof_vel_target", &robot.dof_vel_target, Field::VelTarget),
            ("dof_torque", &robot.dof_torque, Field::Effort),
        ];
        for (what, dof, field) in dofs {
            dict_joints(tree, &path, what, dof.as_ref(), field, &mut plan)?;
        }
    }
    Ok(plan)
}

fn dict_object<'a>(
    tree: &'a Tree,
    path: &str,
    object: &DictObjectState,
    plan: &mut Vec<Assignment<'a>>,
) -> Result<(), SimError> {
    let roots = [
        (Field::RootPos, "pos", object.pos.map(|v| v.to_vec())),
        (Field::RootQuat, "rot", object.rot.map(|v| v.to_vec())),
        (Field::RootLin, "vel", object.vel.map(|v| v.to_vec())),
        (Field::RootAng, "ang_vel", object.ang_vel.map(|v| v.to_vec())),
    ];
    for (field, what, numbers) in roots {
        if let Some(numbers) = numbers {
            let values = Values::Given(numbers);
            plan.push(Assignment { tree, path: format!("{path}.{what}"), field, values });
        }
    }
    dict_joints(tree, path, "dof_pos", object.dof_pos.as_ref(), Field::JointPos, plan)?;
    dict_joints(tree, path, "dof_vel", object.dof_vel.as_ref(), Field::JointVel, plan)?;
    for (name, numbers) in object.bodies.iter().flatten() {
        let field = Field::Body(find(&tree.body_names, "body", name)?);
        let values = Values::Given(numbers.to_vec());
        plan.push(Assignment { tree, path: format!("{path}.bodies.{name}"), field, values });
    }
    Ok(())
}

fn dict_joints<'a>(
    tree: &'a Tree,
    path: &str,
    what: &str,
    dof: Option<&citrange_core::dict::Dof>,
    field: fn(usize) -> Field,
    plan: &mut Vec<Assignment<'a>>,
) -> Result<(), SimError> {
    for (name, value) in dof.into_iter().flatten() {
        let path = format!("{path}.{what}.{name}");
        let field = field(find_joint(tree, name)?);
        plan.push(Assignment { tree, path, field, values: Values::Given(vec![*value]) });
    }
    Ok(())
}

fn find_joint(tree: &Tree, name: &str) -> Result<usize, SimError> {
    let known = tree.joints.iter().map(|j| j.name.as_str());
    let found = known.clone().position(|joint| joint == name);
    found.ok_or_else(|| SimError::unknown("joint", name, known))
}

fn find(names: &[String], kind: &'static str, name: &str) -> Result<usize, SimError> {
    let known = names.iter().map(String::as_str);
    let found = known.clone().position(|n| n == name);
    found.ok_or_else(|| SimError::unknown(kind, name, known))
}
