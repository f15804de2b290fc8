//! Restoring the start of an episode by the best level that a file allows.

use citrange_core::restore::{BodyPose, PoseCheck};
use citrange_core::{Level, RestoreReport, StartData};

use crate::error::SimError;
use crate::layout::Root;
use crate::world::World;

impl World {
    /// Puts an environment into the state that a file describes, by the best level it allows,
    /// and compares the bodies with those stored. A level that does not fit is skipped, and why
    /// is said.
    ///
    /// # Errors
    /// When the index is out of range.
    pub fn restore_best(
        &mut self,
        env: usize,
        start: &StartData,
    ) -> Result<RestoreReport, SimError> {
        self.check_env(env)?;
        let mut skipped = Vec::new();
        let mut missing = Vec::new();
        let mut used = Level::Current;
        for level in [Level::Snapshot, Level::Arrays, Level::NamedJoints, Level::Flattened] {
            match self.try_level(env, level, start) {
                Ok(lacks) => {
                    (used, missing) = (level, lacks);
                    break;
                }
                Err(why) => skipped.push((level, why)),
            }
        }
        let check = self.check_bodies(env, &start.bodies);
        Ok(RestoreReport { level: used, skipped, missing, check })
    }

    /// Where every body of an environment is, the world itself first.
    ///
    /// # Errors
    /// When the index is out of range.
    pub fn body_poses(&self, env: usize) -> Result<Vec<BodyPose>, SimError> {
        let data = self.data(env)?;
        let names = self.scene.layout.body_names.iter();
        let poses = data.xpos().iter().zip(data.xmat());
        Ok(names
            .zip(poses)
            .map(|(name, (pos, rot))| BodyPose { name: Some(name.clone()), pos_m: *pos, rot: *rot })
            .collect())
    }

    /// Puts an environment into a state of positions and velocities alone, in the order of the
    /// model; servos hold where the joints are.
    ///
    /// # Errors
    /// When the index is out of range, lengths are wrong, or a number is not finite.
    pub fn set_row(
        &mut self,
        env: usize,
        time_s: f64,
        qpos: &[f64],
        qvel: &[f64],
    ) -> Result<(), SimError> {
        self.check_env(env)?;
        self.set_arrays(env, time_s, qpos, qvel).map_err(|reason| SimError::State {
            env,
            field: "positions and velocities".into(),
            reason,
        })
    }

    fn check_bodies(&self, env: usize, stored: &[BodyPose]) -> Option<PoseCheck> {
        let bodies = self.body_poses(env).ok()?;
        if stored.iter().all(|b| b.name.is_some()) {
            let find = |name: &Option<String>| bodies.iter().find(|b| b.name == *name);
            return PoseCheck::new(stored.iter().filter_map(|was| Some((find(&was.name)?, was))));
        }
        // Only the order was kept: it means something if the model has as many bodies.
        let same = bodies.len() == stored.len();
        same.then(|| PoseCheck::new(bodies.iter().zip(stored))).flatten()
    }

    /// What the level cannot know, or why it cannot be used; then nothing changed.
    fn try_level(
        &mut self,
        env: usize,
        level: Level,
        start: &StartData,
    ) -> Result<Vec<String>, String> {
        let model = self.scene.model.ffi();
        let (nq, nv) = (model.nq as usize, model.nv as usize);
        match level {
            Level::Snapshot => {
                let snapshot = start.snapshot.as_ref().ok_or("the file has none")?;
                self.restore(env, snapshot).map_err(|e| e.to_string())?;
                Ok(Vec::new())
            }
            Level::Arrays => {
                let qpos = start
                    .qpos
                    .as_ref()
                    .ok_or("the file has no position array that belongs to this model")?;
                let still = vec![0.0; nv];
                let mut lacks = Vec::new();
                let qvel = start.qvel.as_ref().unwrap_or_else(|| {
                    lacks.push("velocities (taken as zero)".to_owned());
                    &still
                });
                if start.time_s.is_none() {
                    lacks.push("simulation time (taken as zero)".to_owned());
                }
                self.set_arrays(env, start.time_s.unwrap_or(0.0), qpos, qvel)?;
                lacks.push(UNKNOWN.to_owned());
                Ok(lacks)
            }
            Level::Flattened => {
                let flat = start
                    .flattened
                    .as_ref()
                    .ok_or("the file has no flattened state that belongs to this model")?;
                if flat.len() != 1 + nq + nv {
                    return Err(format!(
                        "it has {} numbers, this model needs {} (time, {nq} positions, {nv} \
                         velocities)",
                        flat.len(),
                        1 + nq + nv
                    ));
                }
                self.set_arrays(env, flat[0], &flat[1..=nq], &flat[1 + nq..])?;
                Ok(vec![UNKNOWN.to_owned()])
            }
            Level::NamedJoints => self.set_named(env, start),
            Level::States | Level::Current => Ok(Vec::new()),
        }
    }

    fn set_named(&mut self, env: usize, start: &StartData) -> Result<Vec<String>, String> {
        if start.named.is_empty() {
            return Err("the file names no joints".into());
        }
        let layout = &self.scene.layout;
        let mut qpos = self.scene.home_qpos.clone();
        let mut known = vec![false; qpos.len()];
        for (name, numbers) in &start.named {
            let places: Vec<usize> = if let Some(object) = layout.objects.get(name) {
                match object.root {
                    Root::Free { qpos, .. } => (qpos..qpos + 7).collect(),
                    Root::Fixed => return Err(format!("{name} cannot move in this scene")),
                }
            } else if let Some(robot) = layout.robots.get(name) {
                robot.joints.iter().map(|j| j.qpos).collect()
            } else {
                let all = layout.objects.keys().chain(layout.robots.keys()).map(String::as_str);
                let hint = citrange_core::names::suggestion(name, all);
                return Err(format!("the scene has no {name}, {hint}"));
            };
            let fits = match layout.objects.contains_key(name) {
                true => numbers.len() == places.len(),
                false => numbers.len() <= places.len(),
            };
            if !fits {
                return Err(format!("{name}: {} numbers for {}", numbers.len(), places.len()));
            }
            for (place, number) in places.into_iter().zip(numbers) {
                qpos[place] = *number;
                known[place] = true;
            }
        }
        let nv = self.scene.model.ffi().nv as usize;
        let still = vec![0.0; nv];
        let unknown = known.iter().filter(|k| !**k).count();
        let flat = start.flattened.as_ref().map_or(0, Vec::len);
        if unknown > 0 && flat == 1 + qpos.len() + nv {
            let all = qpos.len();
            return Err(format!("{unknown} of {all} positions are not named; level 3 has all"));
        }
        self.set_arrays(env, start.time_s.unwrap_or(0.0), &qpos, &still)?;
        let mut lacks = vec!["velocities (taken as zero)".to_owned(), UNKNOWN.to_owned()];
        if unknown > 0 {
            lacks
                .push(format!("{unknown} of {} joint positions (as in a fresh scene)", qpos.len()));
        }
        Ok(lacks)
    }

    /// Positions and velocities into a clean environment; servos hold where the joints are.
    fn set_arrays(
        &mut self,
        env: usize,
        time_s: f64,
        qpos: &[f64],
        qvel: &[f64],
    ) -> Result<(), String> {
        let model = self.scene.model.ffi();
        let (nq, nv) = (model.nq as usize, model.nv as usize);
        if qpos.len() != nq || qvel.len() != nv {
            return Err(format!(
                "it has {} positions and {} velocities, this model has {nq} and {nv}: {}",
                qpos.len(),
                qvel.len(),
                self.scene
                    .joint_slots()
                    .iter()
                    .map(|s| s.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
        }
        let all = qpos.iter().chain(qvel).chain([&time_s]);
        if let Some(bad) = all.into_iter().find(|n| !n.is_finite()) {
            return Err(format!("it holds {bad}"));
        }
        let scene = std::sync::Arc::clone(&self.scene);
        let hz = f64::from(scene.scene.rates.physics_hz);
        let env_ = &mut self.envs[env];
        let data = &mut env_.data;
        data.reset();
        data.set_time(time_s);
        data.qpos_mut().copy_from_slice(qpos);
        data.qvel_mut().copy_from_slice(qvel);
        let ctrl = data.ctrl_mut();
        ctrl.copy_from_slice(&scene.home_ctrl);
        for joint in scene.layout.robots.values().flat_map(|r| &r.joints) {
            if let Some(drive) = joint.drive {
                ctrl[drive.actuator] = drive.command(qpos[joint.qpos]);
            }
        }
        env_.step = (time_s * hz).round().max(0.0) as u64;
        self.refresh(env);
        Ok(())
    }
}

/// What no level but the snapshot knows.
const UNKNOWN: &str = "commands in force, solver warm start, controller memory";
