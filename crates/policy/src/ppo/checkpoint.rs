//! A training on disk: everything that the next iteration depends on, so that a training that was
//! killed goes on bit for bit.

use std::path::Path;
use std::sync::Arc;

use citrange_core::rng::Rng;
use citrange_lanes::LANES;
use serde::{Deserialize, Serialize};

use super::settings::TrainSettings;
use super::trainer::{Progress, Trainer};
use crate::bytes::{Reader, Writer, write_renamed};
use crate::env::{Aabb, Obstacle, ReachArm, ReachSettings, Rung};
use crate::error::PolicyError;
use crate::file::{CURVE, Record, read_limited};

/// The checkpoint in a training's folder.
pub(super) const NAME: &str = "training.checkpoint";

const MAGIC: [u8; 8] = *b"CITRTRN1";
const MOST_BYTES: u64 = 1 << 31;

/// What is written as text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    tool_version: String,
    robot: String,
    robot_sha256: String,
    home: Vec<f64>,
    reach: ReachSettings,
    train: TrainSettings,
    rung: Option<Rung>,
    best: Option<Record>,
    curve: Vec<Progress>,
}

impl Trainer {
    /// Writes everything, wholly or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self) -> Result<(), PolicyError> {
        let bad = |e: serde_json::Error| PolicyError::bad("the checkpoint", e.to_string());
        let head = Head {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            robot: self.arm.robot().chain().robot.clone(),
            robot_sha256: self.arm.digest(),
            home: self.arm.home().to_vec(),
            reach: (*self.reach).clone(),
            train: self.train.clone(),
            rung: self.rung,
            best: self.best.clone(),
            curve: self.curve.clone(),
        };
        let mut to = Writer::new(MAGIC);
        to.text(&serde_json::to_string(&head).map_err(bad)?);
        to.u64(self.iteration);
        to.f64(self.smooth_success);
        to.f64(self.spent_s());
        put_rng(&mut to, &self.shuffle);
        self.net.parameters().for_each(|numbers| to.f32s(numbers));
        to.u64(self.adam.steps);
        self.adam.means.iter().chain(&self.adam.squares).for_each(|numbers| to.f32s(numbers));
        for actors in &self.actors {
            let copies = &actors.copies;
            actors.rngs.iter().for_each(|rng| put_rng(&mut to, rng));
            copies.joints.iter().chain(&copies.goal_m).for_each(|lanes| to.f32s(&lanes.0));
            for lane in 0..LANES {
                to.u64(u64::from(copies.steps[lane]));
                to.u64(u64::from(actors.disturber.late[lane]));
                put_boxes(&mut to, &copies.boxes.get(lane));
                let begun = &actors.begun[lane];
                put_boxes(&mut to, &begun.boxes);
                [&begun.start[..], &begun.goal, &begun.goal_m]
                    .iter()
                    .for_each(|numbers| to.f32s(numbers));
            }
            let before = actors.disturber.before.iter().flatten();
            before.for_each(|lanes| to.f32s(&lanes.0));
        }
        write_renamed(&self.folder.join(NAME), &to.finish())?;
        let lines: Result<Vec<String>, _> = self.curve.iter().map(serde_json::to_string).collect();
        let text = lines.map_err(bad)?.join("\n") + "\n";
        write_renamed(&self.folder.join(CURVE), text.as_bytes())
    }

    /// Goes on with a training where its checkpoint is. `total_steps`: another end than it had.
    ///
    /// # Errors
    /// When there is none, it is damaged, or the robot is not as it was.
    pub fn resume(
        folder: &Path,
        total_steps: Option<u64>,
        threads: usize,
    ) -> Result<Self, PolicyError> {
        let path = folder.join(NAME);
        let bytes = read_limited(&path, MOST_BYTES)?;
        let what = format!("checkpoint {}", path.display());
        let mut from = Reader::new(&bytes, MAGIC, &what)?;
        let bad = |reason: String| PolicyError::bad(&what, reason);
        let head: Head = serde_json::from_str(from.text()?).map_err(|e| bad(e.to_string()))?;
        let robot = citrange_robot::Robot::load(&head.robot)?.standing_at([0.0; 3], 0.0);
        let arm = Arc::new(ReachArm::new(robot, &head.home)?);
        if arm.digest() != head.robot_sha256 {
            return Err(bad(format!("{} is not as it was: begin anew", head.robot)));
        }
        head.reach.check()?;
        let mut train = head.train;
        if let Some(steps) = total_steps {
            train.total_steps = steps;
        }
        train.check()?;
        let mut made = Self::fresh(folder, arm, (head.reach, train, head.rung), threads)?;
        (made.best, made.curve) = (head.best, head.curve);
        made.iteration = from.u64()?;
        made.smooth_success = from.f64()?;
        made.cpu_s[0] = from.f64()?;
        made.shuffle = rng(&mut from)?;
        for numbers in made.net.parameters_mut() {
            from.f32s_into(numbers)?;
        }
        made.adam.steps = from.u64()?;
        for numbers in made.adam.means.iter_mut().chain(&mut made.adam.squares) {
            from.f32s_into(numbers)?;
        }
        for actors in &mut made.actors {
            for to in &mut actors.rngs {
                *to = rng(&mut from)?;
            }
            let copies = &mut actors.copies;
            for lanes in copies.joints.iter_mut().chain(&mut copies.goal_m) {
                from.f32s_into(&mut lanes.0)?;
            }
            for lane in 0..LANES {
                copies.steps[lane] = from.u64()? as u32;
                actors.disturber.late[lane] = from.u64()? as u32;
                copies.boxes.set(lane, &boxes(&mut from)?);
                let begun = &mut actors.begun[lane];
                begun.boxes = boxes(&mut from)?;
                from.f32s_into(&mut begun.start)?;
                from.f32s_into(&mut begun.goal)?;
                from.f32s_into(&mut begun.goal_m)?;
            }
            for lanes in actors.disturber.before.iter_mut().flatten() {
                from.f32s_into(&mut lanes.0)?;
            }
            copies.look();
        }
        from.end()?;
        if !made.net.is_finite() {
            return Err(bad("its weights are no numbers".to_owned()));
        }
        Ok(made)
    }
}

fn put_rng(to: &mut Writer, rng: &Rng) {
    rng.state().into_iter().for_each(|word| to.u64(word));
}

fn rng(from: &mut Reader<'_>) -> Result<Rng, PolicyError> {
    let state = [from.u64()?, from.u64()?, from.u64()?, from.u64()?];
    Ok(Rng::from_state(state))
}

fn put_boxes(to: &mut Writer, boxes: &[Obstacle]) {
    let each = boxes.iter().flat_map(|(of, speed)| [of.low_m, of.high_m, *speed].concat());
    to.f32s(&each.collect::<Vec<f32>>());
}

fn boxes(from: &mut Reader<'_>) -> Result<Vec<Obstacle>, PolicyError> {
    let numbers = from.f32s()?;
    let of = |[a, b, c, d, e, f, g, h, i]: &[f32; 9]| {
        (Aabb { low_m: [*a, *b, *c], high_m: [*d, *e, *f] }, [*g, *h, *i])
    };
    Ok(numbers.as_chunks::<9>().0.iter().map(of).collect())
}
