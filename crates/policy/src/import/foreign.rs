//! An imported policy: a network, what goes in by which name, and between which bounds answers are.

use std::path::Path;

use citrange_lanes::Isa;
use serde::{Deserialize, Serialize};

use super::{onnx, sb3};
use crate::bytes::{Reader, Writer, write_renamed};
use crate::error::PolicyError;
use crate::file::read_limited;
use crate::network::{Activation, Layer, Mlp, MlpScratch};

const MAGIC: [u8; 8] = *b"CITRNET1";
const FORMAT: u32 = 1;

/// Largest file that is read.
const MOST_BYTES: u64 = 1 << 30;

/// Somebody else's policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignPolicy {
    /// Names and sizes of the inputs, in order; one without a name where the file has none.
    pub inputs: Vec<(String, usize)>,
    /// From the inputs, one after the other, to the mean action.
    pub network: Mlp,
    /// Bounds of each answer; none where there are none.
    pub bounds: Option<[Vec<f32>; 2]>,
    /// Where it came from, for people.
    pub source: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    format: u32,
    tool_version: String,
    source: String,
    inputs: Vec<(String, usize)>,
    layers: Vec<(usize, usize, Activation)>,
    bounds: Option<[Vec<f32>; 2]>,
}

impl ForeignPolicy {
    /// Reads a policy of others: `.zip` of Stable-Baselines3, `.onnx`, or what
    /// [`ForeignPolicy::save`] wrote. What is in the file decides, not its name.
    ///
    /// # Errors
    /// When it is none of them, is damaged, or is of a kind that is not known; nothing in it is
    /// executed.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        let bytes = read_limited(path, MOST_BYTES)?;
        Self::of_bytes(&bytes, &path.display().to_string())
    }

    /// The same from memory; `what` is the file's name, for errors.
    ///
    /// # Errors
    /// As [`ForeignPolicy::load`].
    pub fn of_bytes(bytes: &[u8], what: &str) -> Result<Self, PolicyError> {
        let made = if bytes.starts_with(&MAGIC) {
            Self::own(bytes, what)?
        } else if bytes.starts_with(b"PK\x03\x04") {
            sb3::read(bytes, what)?
        } else {
            onnx::read(bytes, what)?
        };
        made.check(what)?;
        Ok(made)
    }

    /// How many numbers go in.
    #[must_use]
    pub fn input_count(&self) -> usize {
        self.network.inputs()
    }

    /// The mean action, within its bounds.
    ///
    /// # Errors
    /// When there are not as many inputs as it takes.
    pub fn act(&self, inputs: &[f32]) -> Result<Vec<f32>, PolicyError> {
        if inputs.len() != self.input_count() {
            let reason = format!("{} numbers, it takes {}", inputs.len(), self.input_count());
            return Err(PolicyError::bad("inputs of the policy", reason));
        }
        let mut scratch = MlpScratch::default();
        let answer = self.network.forward(Isa::best(), 1, inputs, &mut scratch);
        let mut answer = answer[..self.network.outputs()].to_vec();
        if let Some([low, high]) = &self.bounds {
            for (at, number) in answer.iter_mut().enumerate() {
                *number = number.max(low[at]).min(high[at]);
            }
        }
        Ok(answer)
    }

    fn check(&self, what: &str) -> Result<(), PolicyError> {
        let bad = |reason: String| Err(PolicyError::bad(what, reason));
        let inputs: usize = self.inputs.iter().map(|(_, size)| size).sum();
        if inputs != self.network.inputs() {
            let reason = format!(
                "its observations have {inputs} numbers, its first layer takes {}",
                self.network.inputs()
            );
            return bad(reason);
        }
        let outputs = self.network.outputs();
        if let Some([low, high]) = &self.bounds {
            let fits = low.len() == outputs && high.len() == outputs;
            if !fits || low.iter().zip(high).any(|(l, h)| !(l <= h)) {
                return bad(format!("its {outputs} answers have other bounds: {low:?}, {high:?}"));
            }
        }
        Ok(())
    }

    /// Writes it down.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), PolicyError> {
        let layers = self.network.layers();
        let about = About {
            format: FORMAT,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            source: self.source.clone(),
            inputs: self.inputs.clone(),
            layers: layers.iter().map(|l| (l.inputs(), l.outputs(), l.activation())).collect(),
            bounds: self.bounds.clone(),
        };
        let about = serde_json::to_string(&about)
            .map_err(|e| PolicyError::bad("the policy's description", e.to_string()))?;
        let mut to = Writer::new(MAGIC);
        to.text(&about);
        for layer in layers {
            to.f32s(&layer.weights_by_output());
            to.f32s(layer.bias());
        }
        write_renamed(path, &to.finish())
    }

    fn own(bytes: &[u8], what: &str) -> Result<Self, PolicyError> {
        let bad = |reason: String| PolicyError::bad(what, reason);
        let mut from = Reader::new(bytes, MAGIC, what)?;
        let about: About = serde_json::from_str(from.text()?).map_err(|e| bad(e.to_string()))?;
        if about.format != FORMAT {
            return Err(bad(format!("format {}, this version reads {FORMAT}", about.format)));
        }
        let mut layers = Vec::new();
        for (inputs, _, activation) in about.layers {
            let (weights, bias) = (from.f32s()?, from.f32s()?);
            layers.push(Layer::new(&weights, &bias, inputs, activation)?);
        }
        from.end()?;
        let network = Mlp::new(layers)?;
        Ok(Self { inputs: about.inputs, network, bounds: about.bounds, source: about.source })
    }

    /// What it is, in lines.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let inputs = self.inputs.iter().map(|(name, size)| format!("{name} ({size})"));
        let layers = self.network.layers().iter();
        let layers =
            layers.map(|l| format!("{} x {} {:?}", l.inputs(), l.outputs(), l.activation()));
        vec![
            format!("policy of others: {}", self.source),
            format!(
                "takes {} numbers: {}",
                self.input_count(),
                inputs.collect::<Vec<_>>().join(", ")
            ),
            format!("gives {} numbers, bounds {:?}", self.network.outputs(), self.bounds),
            format!("layers: {}", layers.collect::<Vec<_>>().join(", ")),
        ]
    }
}
