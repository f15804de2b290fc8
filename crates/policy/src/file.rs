//! A policy as a file: the network and everything that is needed to use it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bytes::{Reader, Writer, write_renamed};
use crate::env::{ReachArm, ReachSettings, Rung, input_names};
use crate::error::PolicyError;
use crate::network::{Activation, Layer, Mlp};
use crate::ppo::TrainSettings;

const MAGIC: [u8; 8] = *b"CITRPOL1";

/// Version of the description.
const FORMAT: u32 = 1;

/// Largest file that is read.
const MOST_BYTES: u64 = 1 << 30;

/// A trained policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyFile {
    /// What it is.
    pub about: PolicyAbout,
    /// From what is seen to the mean action.
    pub network: Mlp,
}

/// What a policy is, sees and does, and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyAbout {
    /// Version of this description.
    pub format: u32,
    /// Version of Citrange that wrote it.
    pub tool_version: String,
    /// The robot.
    pub robot: String,
    /// Checksum of its joints, links and spheres.
    pub robot_sha256: String,
    /// Names of what it sees, in order.
    pub inputs: Vec<String>,
    /// Joints that its actions move, in order.
    pub actions: Vec<String>,
    /// What an action means.
    pub action_meaning: String,
    /// How surroundings are sensed.
    pub sensor: String,
    /// The frame of all vectors.
    pub frame: String,
    /// Where the robot works: positions of all joints.
    pub home: Vec<f64>,
    /// Logarithms of the deviations of actions in training.
    pub log_sigma: Vec<f32>,
    /// The environment.
    pub reach: ReachSettings,
    /// The training.
    pub train: TrainSettings,
    /// The worlds that it was trained in.
    pub rung: Option<Rung>,
    /// How far the training came.
    pub record: Record,
    /// Sizes and activations of the layers.
    layers: Vec<LayerAbout>,
}

/// How far a training came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Steps until this policy.
    pub steps: u64,
    /// Processor time until then.
    pub cpu_s: f64,
    /// Share of evaluation episodes that it reached, by the mean action.
    pub success: f64,
    /// How many those were.
    pub episodes: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LayerAbout {
    inputs: usize,
    outputs: usize,
    activation: Activation,
}

/// The one sensor that there is, in words.
const SENSOR: &str = "exact distance and direction to the nearest box: voxels as cubes, boxes along \
                      the axes as they are, other solids as cells";

impl PolicyFile {
    /// A policy that was just trained.
    #[must_use]
    pub fn new(
        arm: &ReachArm,
        reach: &ReachSettings,
        train: &TrainSettings,
        rung: Option<Rung>,
        (network, log_sigma): (Mlp, Vec<f32>),
        record: Record,
    ) -> Self {
        let layers = network.layers().iter().map(|layer| LayerAbout {
            inputs: layer.inputs(),
            outputs: layer.outputs(),
            activation: layer.activation(),
        });
        let joints = &arm.robot().chain().joints;
        let about = PolicyAbout {
            format: FORMAT,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            robot: arm.robot().chain().robot.clone(),
            robot_sha256: arm.digest(),
            inputs: input_names(arm),
            actions: arm.controlled().iter().map(|joint| joints[*joint].name.clone()).collect(),
            action_meaning: format!(
                "-1 to 1, times {} rad in {} s, from where the joint is",
                reach.action_rad, reach.step_s
            ),
            sensor: SENSOR.to_owned(),
            frame: "the robot's base".to_owned(),
            home: arm.home().to_vec(),
            log_sigma,
            reach: reach.clone(),
            train: train.clone(),
            rung,
            record,
            layers: layers.collect(),
        };
        Self { about, network }
    }

    /// Writes it, wholly or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PolicyError> {
        let about = serde_json::to_string(&self.about)
            .map_err(|e| PolicyError::bad("the policy's description", e.to_string()))?;
        let mut writer = Writer::new(MAGIC);
        writer.text(&about);
        for layer in self.network.layers() {
            writer.f32s(&layer.weights_by_output());
            writer.f32s(layer.bias());
        }
        write_renamed(path, &writer.finish())
    }

    /// Reads one: the file, or the folder of a training.
    ///
    /// # Errors
    /// When it is not there, is damaged, or is of a newer version.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        let path = if path.is_dir() { path.join(BEST) } else { path.to_owned() };
        let bytes = read_limited(&path, MOST_BYTES)?;
        let what = format!("policy {}", path.display());
        Self::of_bytes(&bytes, &what)
    }

    pub(crate) fn of_bytes(bytes: &[u8], what: &str) -> Result<Self, PolicyError> {
        let mut reader = Reader::new(bytes, MAGIC, what)?;
        let bad = |reason: String| PolicyError::bad(what, reason);
        let about: PolicyAbout =
            serde_json::from_str(reader.text()?).map_err(|e| bad(e.to_string()))?;
        if about.format != FORMAT {
            let reason = format!("format {}, this version reads {FORMAT}", about.format);
            return Err(bad(reason));
        }
        about.reach.check()?;
        let mut layers = Vec::new();
        for layer in &about.layers {
            let (weights, bias) = (reader.f32s()?, reader.f32s()?);
            if bias.len() != layer.outputs {
                return Err(bad(format!("{} biases of {} outputs", bias.len(), layer.outputs)));
            }
            layers.push(Layer::new(&weights, &bias, layer.inputs, layer.activation)?);
        }
        reader.end()?;
        let network = Mlp::new(layers)?;
        if network.inputs() != about.inputs.len() || network.outputs() != about.actions.len() {
            return Err(bad("its network does not fit its inputs and actions".to_owned()));
        }
        if about.log_sigma.len() != about.actions.len() {
            return Err(bad("it needs one deviation per action".to_owned()));
        }
        Ok(Self { about, network })
    }

    /// What it is, in lines.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let about = &self.about;
        let layers = self.network.layers().iter().map(|layer| {
            format!("{} x {} {:?}", layer.inputs(), layer.outputs(), layer.activation())
        });
        let record = &about.record;
        vec![
            format!("policy of {}, written by Citrange {}", about.robot, about.tool_version),
            format!(
                "sees {} numbers ({}); {}",
                about.inputs.len(),
                about.frame,
                about.inputs.join(", ")
            ),
            format!("moves {}: {}", about.actions.join(", "), about.action_meaning),
            format!("senses: {}", about.sensor),
            format!("layers: {}", layers.collect::<Vec<_>>().join(", ")),
            format!(
                "trained on rung {} with seed {}: {} steps, {:.0} s of a processor; reached {:.2} % \
                 of {} episodes",
                about.rung.map_or("of its own", Rung::name),
                about.train.seed,
                record.steps,
                record.cpu_s,
                100.0 * record.success,
                record.episodes
            ),
        ]
    }

    /// The arm that it was trained for, standing on the floor at the origin.
    ///
    /// # Errors
    /// When the robot is not known, or is another one than it was.
    pub fn arm(&self) -> Result<ReachArm, PolicyError> {
        let robot = citrange_robot::Robot::load(&self.about.robot)?.standing_at([0.0; 3], 0.0);
        let arm = ReachArm::new(robot, &self.about.home)?;
        if arm.digest() != self.about.robot_sha256 || input_names(&arm) != self.about.inputs {
            let reason = format!(
                "{} is not as it was when the policy was trained: train it again",
                self.about.robot
            );
            return Err(PolicyError::bad("the policy", reason));
        }
        Ok(arm)
    }
}

/// Steps and success of the evaluations of a training, from its folder; none where they are not
/// known.
#[must_use]
pub fn training_curve(folder: &Path) -> Vec<(u64, f64)> {
    let text = std::fs::read_to_string(folder.join(CURVE)).unwrap_or_default();
    let point = |line: &str| {
        let of: crate::ppo::Progress = serde_json::from_str(line).ok()?;
        Some((of.steps, of.success?))
    };
    text.lines().filter_map(point).collect()
}

/// The learning curve of a training, in its folder.
pub(crate) const CURVE: &str = "curve.jsonl";

/// The best policy of a training, in its folder.
pub(crate) const BEST: &str = "best.policy";

/// Reads a file that is no larger than it may be.
pub(crate) fn read_limited(path: &Path, most: u64) -> Result<Vec<u8>, PolicyError> {
    let size = std::fs::metadata(path).map_err(PolicyError::file(path))?.len();
    if size > most {
        let reason = format!("{size} bytes, at most {most} are read");
        return Err(PolicyError::bad(path.display().to_string(), reason));
    }
    std::fs::read(path).map_err(PolicyError::file(path))
}
