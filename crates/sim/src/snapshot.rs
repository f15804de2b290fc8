//! Snapshot and restore of an environment: the engine's whole integration state, by name.

use citrange_core::Snapshot;
use mujoco_rs::mujoco_c::mjtState;

use crate::error::SimError;
use crate::world::World;

/// Everything that decides the engine's future.
pub(crate) const INTEGRATION: u32 = mjtState::mjSTATE_INTEGRATION as u32;

/// The parts of the integration state and their names on file. The engine's bit values move
/// between versions; the names do not.
const PARTS: [(&str, mjtState); 14] = [
    ("mujoco/time", mjtState::mjSTATE_TIME),
    ("mujoco/qpos", mjtState::mjSTATE_QPOS),
    ("mujoco/qvel", mjtState::mjSTATE_QVEL),
    ("mujoco/act", mjtState::mjSTATE_ACT),
    ("mujoco/history", mjtState::mjSTATE_HISTORY),
    ("mujoco/qacc_warmstart", mjtState::mjSTATE_WARMSTART),
    ("mujoco/ctrl", mjtState::mjSTATE_CTRL),
    ("mujoco/qfrc_applied", mjtState::mjSTATE_QFRC_APPLIED),
    ("mujoco/xfrc_applied", mjtState::mjSTATE_XFRC_APPLIED),
    ("mujoco/eq_active", mjtState::mjSTATE_EQ_ACTIVE),
    ("mujoco/mocap_pos", mjtState::mjSTATE_MOCAP_POS),
    ("mujoco/mocap_quat", mjtState::mjSTATE_MOCAP_QUAT),
    ("mujoco/userdata", mjtState::mjSTATE_USERDATA),
    ("mujoco/plugin", mjtState::mjSTATE_PLUGIN),
];

fn engine_name() -> String {
    format!("mujoco {}", citrange_mujoco::VERSION)
}

impl World {
    /// The complete state of one environment. Others add their memory under their own names.
    ///
    /// # Errors
    /// When the index is out of range.
    pub fn snapshot(&self, env: usize) -> Result<Snapshot, SimError> {
        self.check_env(env)?;
        let data = &self.envs[env].data;
        let fields = PARTS
            .iter()
            .map(|(name, part)| ((*name).to_owned(), data.state(*part as u32).into_vec()))
            .collect();
        Ok(Snapshot {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: engine_name(),
            scene: self.scene.scene.name.clone(),
            model_hash: self.scene.model_hash.clone(),
            step: self.envs[env].step,
            fields,
        })
    }

    /// Puts an environment into a snapshot's state. What follows is bit-identical to what
    /// followed the snapshot, whatever this environment did before.
    ///
    /// # Errors
    /// When the snapshot is of another engine version or model, lacks a field, or holds numbers
    /// that are not finite. Then nothing changes.
    pub fn restore(&mut self, env: usize, snapshot: &Snapshot) -> Result<(), SimError> {
        self.check_env(env)?;
        if snapshot.engine != engine_name() {
            return Err(SimError::Mismatch(format!(
                "it was made with {}, this is {}",
                snapshot.engine,
                engine_name()
            )));
        }
        if snapshot.model_hash != self.scene.model_hash {
            return Err(SimError::Mismatch(format!(
                "it is of scene {} with model {}, this is scene {} with model {}",
                snapshot.scene,
                short(&snapshot.model_hash),
                self.scene.scene.name,
                short(&self.scene.model_hash)
            )));
        }
        let data = &mut self.envs[env].data;
        for (name, part) in PARTS {
            let numbers = snapshot
                .fields
                .get(name)
                .ok_or_else(|| SimError::Mismatch(format!("the field {name} is missing")))?;
            let expected = data.model().state_size(part as u32);
            if numbers.len() != expected {
                let found = numbers.len();
                return Err(SimError::Length { what: name.to_owned(), found, expected });
            }
            if let Some(bad) = numbers.iter().find(|n| !n.is_finite()) {
                return Err(SimError::Mismatch(format!("{name} holds {bad}")));
            }
        }
        let before = data.state(INTEGRATION);
        // From a clean slate, so that nothing of the past (warnings, sleep) remains.
        data.reset();
        let mut outcome = Ok(());
        for (name, part) in PARTS {
            let set = data.set_state(&snapshot.fields[name], part as u32);
            outcome = outcome.and(set.map_err(|e| SimError::Mismatch(format!("{name}: {e}"))));
        }
        if outcome.is_ok() {
            self.envs[env].step = snapshot.step;
        } else {
            // What the engine gave out a moment ago, it takes back.
            let back = data.set_state(&before, INTEGRATION);
            back.map_err(|e| SimError::Mujoco(e.to_string()))?;
        }
        self.refresh(env);
        outcome
    }
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}
