//! DictState: one environment, by name, for people; and its conversion to and from TensorState.

use std::collections::BTreeMap;

use ndarray::{Array2, Array3, Axis};
use serde::{Deserialize, Serialize};

use crate::state::{
    BODY_STATE, CameraState, Extra, ObjectState, RobotState, ShapeError, TensorState,
};

/// Values by joint name.
pub type Dof = BTreeMap<String, f64>;

/// One environment. Absent fields are left alone when the state is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DictState {
    /// Objects by name.
    pub objects: BTreeMap<String, DictObjectState>,
    /// Robots by name.
    pub robots: BTreeMap<String, DictRobotState>,
    /// Cameras by name: a [`CameraState`] of one environment.
    #[serde(skip)]
    pub cameras: BTreeMap<String, CameraState>,
    /// Answers to named queries, each of one environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extras: BTreeMap<String, Extra>,
}

/// One object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DictObjectState {
    /// Position in metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pos: Option<[f64; 3]>,
    /// Quaternion w,x,y,z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rot: Option<[f64; 4]>,
    /// Linear velocity in m/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vel: Option<[f64; 3]>,
    /// Angular velocity in rad/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ang_vel: Option<[f64; 3]>,
    /// Joint positions by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dof_pos: Option<Dof>,
    /// Joint velocities by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dof_vel: Option<Dof>,
    /// All bodies, root first (name, 13 numbers). Follows from root and joints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bodies: Option<Vec<(String, [f64; BODY_STATE])>>,
}

/// One robot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DictRobotState {
    /// What every articulated thing has.
    #[serde(flatten)]
    pub object: DictObjectState,
    /// Position targets by joint; a joint without a position servo is not named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dof_pos_target: Option<Dof>,
    /// Velocity targets by joint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dof_vel_target: Option<Dof>,
    /// Efforts asked for by joint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dof_torque: Option<Dof>,
}

/// A set of DictStates that cannot become one TensorState.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DictError {
    /// Names differ between environments.
    #[error("environment {env}: {what} differ from those of environment 0")]
    NotAlike {
        /// Which environment.
        env: usize,
        /// Which names.
        what: String,
    },
    /// A field that a full tensor row needs is missing.
    #[error(
        "environment {env}: {field} is missing; a TensorState row needs pos, rot, vel and ang_vel \
         (set the DictState itself to change only some)"
    )]
    Missing {
        /// Which environment.
        env: usize,
        /// Which field.
        field: String,
    },
    /// The tensor's own shapes are wrong.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

impl TensorState {
    /// One [`DictState`] per environment, in order.
    ///
    /// # Errors
    /// When the arrays do not fit together.
    pub fn to_dicts(&self) -> Result<Vec<DictState>, DictError> {
        self.check()?;
        Ok((0..self.num_envs).map(|env| self.dict_of(env)).collect())
    }

    fn dict_of(&self, env: usize) -> DictState {
        let robots = self.robots.iter().map(|(name, robot)| {
            let target = |array: &Option<Array2<f64>>| {
                let dof = |a| dof_of(&robot.joint_names, a, env);
                array.as_ref().map(|a| dof(a).into_iter().filter(|(_, v)| !v.is_nan()).collect())
            };
            let state = DictRobotState {
                object: dict_object(&robot.object, env),
                dof_pos_target: target(&robot.joint_pos_target),
                dof_vel_target: target(&robot.joint_vel_target),
                dof_torque: target(&robot.joint_effort_target),
            };
            (name.clone(), state)
        });
        DictState {
            objects: self
                .objects
                .iter()
                .map(|(name, object)| (name.clone(), dict_object(object, env)))
                .collect(),
            robots: robots.collect(),
            cameras: self.cameras.iter().map(|(n, c)| (n.clone(), c.of_env(env))).collect(),
            extras: self.extras.iter().map(|(n, e)| (n.clone(), e.of_env(env))).collect(),
        }
    }

    /// Joins one [`DictState`] per environment into arrays.
    ///
    /// Joints are in the order of their names (a dictionary has no other).
    ///
    /// # Errors
    /// When the environments name different things, or a root is incomplete.
    pub fn from_dicts(dicts: &[DictState]) -> Result<Self, DictError> {
        let Some(first) = dicts.first() else { return Ok(Self::default()) };
        let mut state = Self { num_envs: dicts.len(), ..Self::default() };
        same_keys(dicts, "objects", |d| d.objects.keys().eq(first.objects.keys()))?;
        same_keys(dicts, "robots", |d| d.robots.keys().eq(first.robots.keys()))?;
        same_keys(dicts, "cameras", |d| d.cameras.keys().eq(first.cameras.keys()))?;
        same_keys(dicts, "extras", |d| d.extras.keys().eq(first.extras.keys()))?;
        for name in first.objects.keys() {
            let rows: Vec<_> = dicts.iter().map(|d| &d.objects[name]).collect();
            state.objects.insert(name.clone(), join_objects(&rows, &format!("objects.{name}"))?);
        }
        for name in first.robots.keys() {
            let rows: Vec<_> = dicts.iter().map(|d| &d.robots[name]).collect();
            state.robots.insert(name.clone(), join_robots(&rows, &format!("robots.{name}"))?);
        }
        for name in first.cameras.keys() {
            let rows: Vec<_> = dicts.iter().map(|d| &d.cameras[name]).collect();
            state.cameras.insert(name.clone(), CameraState::join(&rows, name)?);
        }
        for name in first.extras.keys() {
            let rows: Vec<_> = dicts.iter().map(|d| &d.extras[name]).collect();
            state.extras.insert(name.clone(), Extra::join(&rows, name)?);
        }
        state.check()?;
        Ok(state)
    }
}

fn same_keys(
    dicts: &[DictState],
    what: &str,
    alike: impl Fn(&DictState) -> bool,
) -> Result<(), DictError> {
    match dicts.iter().position(|d| !alike(d)) {
        Some(env) => Err(DictError::NotAlike { env, what: what.to_owned() }),
        None => Ok(()),
    }
}

fn part<const N: usize>(row: &[f64; BODY_STATE], from: usize) -> [f64; N] {
    std::array::from_fn(|i| row[from + i])
}

fn dof_of(names: &[String], array: &Array2<f64>, env: usize) -> Dof {
    names.iter().cloned().zip(array.row(env).iter().copied()).collect()
}

fn dict_object(object: &ObjectState, env: usize) -> DictObjectState {
    let root: Option<[f64; BODY_STATE]> =
        object.root_state.as_ref().map(|a| std::array::from_fn(|i| a[[env, i]]));
    let bodies = object.body_state.as_ref().map(|a| {
        let body = |(index, name): (usize, &String)| {
            (name.clone(), std::array::from_fn(|i| a[[env, index, i]]))
        };
        object.body_names.iter().enumerate().map(body).collect()
    });
    DictObjectState {
        pos: root.map(|r| part(&r, 0)),
        rot: root.map(|r| part(&r, 3)),
        vel: root.map(|r| part(&r, 7)),
        ang_vel: root.map(|r| part(&r, 10)),
        dof_pos: object.joint_pos.as_ref().map(|a| dof_of(&object.joint_names, a, env)),
        dof_vel: object.joint_vel.as_ref().map(|a| dof_of(&object.joint_names, a, env)),
        bodies,
    }
}

fn join_objects(rows: &[&DictObjectState], path: &str) -> Result<ObjectState, DictError> {
    let first = rows[0];
    let missing = |env, field: &str| DictError::Missing { env, field: format!("{path}.{field}") };
    let rooted = rows
        .iter()
        .any(|r| r.pos.is_some() || r.rot.is_some() || r.vel.is_some() || r.ang_vel.is_some());
    let mut state = ObjectState::default();
    if rooted {
        let mut root = Array2::zeros((rows.len(), BODY_STATE));
        for (env, row) in rows.iter().enumerate() {
            let pos = row.pos.ok_or_else(|| missing(env, "pos"))?;
            let rot = row.rot.ok_or_else(|| missing(env, "rot"))?;
            let vel = row.vel.ok_or_else(|| missing(env, "vel"))?;
            let ang = row.ang_vel.ok_or_else(|| missing(env, "ang_vel"))?;
            let numbers = pos.into_iter().chain(rot).chain(vel).chain(ang);
            for (column, value) in numbers.enumerate() {
                root[[env, column]] = value;
            }
        }
        state.root_state = Some(root);
    }
    if let Some(bodies) = &first.bodies {
        state.body_names = bodies.iter().map(|(name, _)| name.clone()).collect();
        let mut array = Array3::zeros((rows.len(), bodies.len(), BODY_STATE));
        for (env, row) in rows.iter().enumerate() {
            let bodies = row.bodies.as_ref().ok_or_else(|| missing(env, "bodies"))?;
            if !bodies.iter().map(|(name, _)| name).eq(&state.body_names) {
                return Err(DictError::NotAlike { env, what: format!("{path}.bodies") });
            }
            for (index, (_, numbers)) in bodies.iter().enumerate() {
                for (column, value) in numbers.iter().enumerate() {
                    array[[env, index, column]] = *value;
                }
            }
        }
        state.body_state = Some(array);
    }
    let named = first.dof_pos.as_ref().or(first.dof_vel.as_ref());
    state.joint_names = named.map(|dof| dof.keys().cloned().collect()).unwrap_or_default();
    let joints = state.joint_names.clone();
    state.joint_pos = join_dofs(rows, &joints, &format!("{path}.dof_pos"), |r| &r.dof_pos, None)?;
    state.joint_vel = join_dofs(rows, &joints, &format!("{path}.dof_vel"), |r| &r.dof_vel, None)?;
    Ok(state)
}

fn join_robots(rows: &[&DictRobotState], path: &str) -> Result<RobotState, DictError> {
    let objects: Vec<_> = rows.iter().map(|r| &r.object).collect();
    let mut object = join_objects(&objects, path)?;
    if object.joint_names.is_empty() {
        let named = [&rows[0].dof_pos_target, &rows[0].dof_vel_target, &rows[0].dof_torque];
        let first = named.into_iter().flatten().next();
        object.joint_names = first.map(|dof| dof.keys().cloned().collect()).unwrap_or_default();
    }
    // A joint that a target does not name has no such servo: NaN, as in a state that was read.
    let joints = object.joint_names.clone();
    let gap = Some(f64::NAN);
    let field = |name: &str| format!("{path}.{name}");
    Ok(RobotState {
        joint_pos_target: join_dofs(
            rows,
            &joints,
            &field("dof_pos_target"),
            |r| &r.dof_pos_target,
            gap,
        )?,
        joint_vel_target: join_dofs(
            rows,
            &joints,
            &field("dof_vel_target"),
            |r| &r.dof_vel_target,
            gap,
        )?,
        joint_effort_target: join_dofs(
            rows,
            &joints,
            &field("dof_torque"),
            |r| &r.dof_torque,
            gap,
        )?,
        object,
    })
}

/// Stacks one dictionary per environment; `gap` stands for joints that are not named.
fn join_dofs<R>(
    rows: &[&R],
    joints: &[String],
    path: &str,
    pick: impl Fn(&R) -> &Option<Dof>,
    gap: Option<f64>,
) -> Result<Option<Array2<f64>>, DictError> {
    if rows.iter().all(|row| pick(row).is_none()) {
        return Ok(None);
    }
    let mut array = Array2::zeros((rows.len(), joints.len()));
    for (env, row) in rows.iter().enumerate() {
        let dof =
            pick(row).as_ref().ok_or_else(|| DictError::Missing { env, field: path.to_owned() })?;
        if let Some(extra) = dof.keys().find(|name| !joints.contains(name)) {
            return Err(DictError::NotAlike {
                env,
                what: format!("the joints of {path} ({extra})"),
            });
        }
        for (column, joint) in joints.iter().enumerate() {
            array[[env, column]] = dof
                .get(joint)
                .copied()
                .or(gap)
                .ok_or_else(|| DictError::Missing { env, field: format!("{path}.{joint}") })?;
        }
    }
    Ok(Some(array))
}

impl Extra {
    /// The part of one environment, still with a first axis of length 1.
    fn of_env(&self, env: usize) -> Self {
        match self {
            Self::Tensor(a) => Self::Tensor(a.slice_axis(Axis(0), (env..=env).into()).to_owned()),
            Self::Contacts(lists) => Self::Contacts(vec![lists[env].clone()]),
        }
    }

    fn join(rows: &[&Self], name: &str) -> Result<Self, DictError> {
        let unlike = |env| DictError::NotAlike { env, what: format!("extras.{name}") };
        match rows[0] {
            Self::Tensor(_) => {
                let mut views = Vec::new();
                for (env, row) in rows.iter().enumerate() {
                    let Self::Tensor(a) = row else { return Err(unlike(env)) };
                    views.push(a.view());
                }
                ndarray::concatenate(Axis(0), &views).map(Self::Tensor).map_err(|_| unlike(0))
            }
            Self::Contacts(_) => {
                let mut all = Vec::new();
                for (env, row) in rows.iter().enumerate() {
                    let Self::Contacts(lists) = row else { return Err(unlike(env)) };
                    all.extend(lists.iter().cloned());
                }
                Ok(Self::Contacts(all))
            }
        }
    }
}

impl CameraState {
    /// The part of one environment, still with a first axis of length 1.
    fn of_env(&self, env: usize) -> Self {
        fn cut<T: Clone, D: ndarray::Dimension>(
            array: &Option<ndarray::Array<T, D>>,
            env: usize,
        ) -> Option<ndarray::Array<T, D>> {
            array.as_ref().map(|a| a.slice_axis(Axis(0), (env..=env).into()).to_owned())
        }
        Self {
            rgb: cut(&self.rgb, env),
            depth: cut(&self.depth, env),
            instance_id_seg: cut(&self.instance_id_seg, env),
            instance_id_seg_id2label: self.instance_id_seg_id2label.clone(),
            instance_seg: cut(&self.instance_seg, env),
            instance_seg_id2label: self.instance_seg_id2label.clone(),
            pos: cut(&self.pos, env),
            quat_world: cut(&self.quat_world, env),
            intrinsics: cut(&self.intrinsics, env),
        }
    }

    fn join(rows: &[&Self], name: &str) -> Result<Self, DictError> {
        fn stack<T: Clone, D: ndarray::RemoveAxis>(
            rows: &[&CameraState],
            field: String,
            pick: impl Fn(&CameraState) -> &Option<ndarray::Array<T, D>>,
        ) -> Result<Option<ndarray::Array<T, D>>, DictError> {
            if rows.iter().all(|row| pick(row).is_none()) {
                return Ok(None);
            }
            let mut views = Vec::new();
            for (env, row) in rows.iter().enumerate() {
                let array = pick(row).as_ref();
                let array = array.ok_or(DictError::Missing { env, field: field.clone() })?;
                views.push(array.view());
            }
            let joined = ndarray::concatenate(Axis(0), &views);
            joined.map(Some).map_err(|_| DictError::NotAlike { env: 0, what: field })
        }
        let path = |field: &str| format!("cameras.{name}.{field}");
        Ok(Self {
            rgb: stack(rows, path("rgb"), |c| &c.rgb)?,
            depth: stack(rows, path("depth"), |c| &c.depth)?,
            instance_id_seg: stack(rows, path("instance_id_seg"), |c| &c.instance_id_seg)?,
            instance_id_seg_id2label: rows[0].instance_id_seg_id2label.clone(),
            instance_seg: stack(rows, path("instance_seg"), |c| &c.instance_seg)?,
            instance_seg_id2label: rows[0].instance_seg_id2label.clone(),
            pos: stack(rows, path("pos"), |c| &c.pos)?,
            quat_world: stack(rows, path("quat_world"), |c| &c.quat_world)?,
            intrinsics: stack(rows, path("intrinsics"), |c| &c.intrinsics)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::ArrayD;
    use proptest::prelude::*;

    fn numbers(shape: &[usize], seed: u64) -> ArrayD<f64> {
        let mut rng = crate::rng::Rng::new(seed);
        ArrayD::from_shape_fn(shape, |_| rng.uniform(-1.0, 1.0))
    }

    fn fixed<D: ndarray::Dimension>(shape: &[usize], seed: u64) -> Option<ndarray::Array<f64, D>> {
        Some(numbers(shape, seed).into_dimensionality().unwrap())
    }

    fn sample(envs: usize) -> TensorState {
        let object = ObjectState { root_state: fixed(&[envs, 13], 1), ..ObjectState::default() };
        let robot = RobotState {
            object: ObjectState {
                root_state: fixed(&[envs, 13], 2),
                body_names: vec!["base".into(), "a_link".into()],
                body_state: fixed(&[envs, 2, 13], 3),
                joint_names: vec!["a".into(), "b".into()],
                joint_pos: fixed(&[envs, 2], 4),
                joint_vel: fixed(&[envs, 2], 5),
            },
            joint_pos_target: fixed(&[envs, 2], 6),
            joint_vel_target: None,
            joint_effort_target: fixed(&[envs, 2], 7),
        };
        let camera = CameraState {
            depth: Some(Array3::from_shape_fn((envs, 2, 3), |(e, y, x)| {
                (e * 6 + y * 3 + x) as f32
            })),
            pos: fixed(&[envs, 3], 8),
            instance_seg_id2label: BTreeMap::from([(0, "ball".into())]),
            ..CameraState::default()
        };
        TensorState {
            num_envs: envs,
            objects: BTreeMap::from([("ball".into(), object)]),
            robots: BTreeMap::from([("robot0".into(), robot)]),
            cameras: BTreeMap::from([("front".into(), camera)]),
            extras: BTreeMap::from([("site".into(), Extra::Tensor(numbers(&[envs, 7], 9)))]),
        }
    }

    proptest! {
        #[test]
        fn tensor_to_dict_and_back_loses_nothing(envs in 1usize..5) {
            let state = sample(envs);
            let dicts = state.to_dicts().unwrap();
            prop_assert_eq!(dicts.len(), envs);
            prop_assert_eq!(TensorState::from_dicts(&dicts).unwrap(), state);
        }
    }

    #[test]
    fn a_joint_without_a_servo_is_not_named() {
        let mut state = sample(2);
        let robot = state.robots.get_mut("robot0").unwrap();
        robot.joint_pos_target.as_mut().unwrap().column_mut(1).fill(f64::NAN);
        let dicts = state.to_dicts().unwrap();
        let targets = dicts[0].robots["robot0"].dof_pos_target.as_ref().unwrap();
        assert_eq!(targets.keys().collect::<Vec<_>>(), ["a"]);
        let back = TensorState::from_dicts(&dicts).unwrap();
        assert!(back.robots["robot0"].joint_pos_target.as_ref().unwrap()[[1, 1]].is_nan());
    }

    #[test]
    fn unlike_environments_and_partial_roots_are_named() {
        let mut dicts = sample(2).to_dicts().unwrap();
        dicts[1].objects.get_mut("ball").unwrap().vel = None;
        let error = TensorState::from_dicts(&dicts).unwrap_err().to_string();
        assert!(error.contains("environment 1") && error.contains("objects.ball.vel"), "{error}");
        dicts[1].objects.clear();
        let error = TensorState::from_dicts(&dicts).unwrap_err().to_string();
        assert!(error.contains("objects differ"), "{error}");
    }

    #[test]
    fn wrong_shapes_are_named() {
        let mut state = sample(2);
        state.num_envs = 3;
        let error = state.to_dicts().unwrap_err().to_string();
        assert!(
            error.contains("objects.ball.root_state: shape [2, 13], expected [3, 13]"),
            "{error}"
        );
    }

    #[test]
    fn a_dict_state_reads_as_json() {
        let dict = sample(1).to_dicts().unwrap().remove(0);
        let text = serde_json::to_string(&dict).unwrap();
        let back: DictState = serde_json::from_str(&text).unwrap();
        assert_eq!(back.robots, dict.robots);
        assert_eq!(back.objects, dict.objects);
        let typo = r#"{"robots": {"robot0": {"dof_poss": {}}}}"#;
        let error = serde_json::from_str::<DictState>(typo).unwrap_err().to_string();
        assert!(error.contains("dof_poss"), "{error}");
    }
}
