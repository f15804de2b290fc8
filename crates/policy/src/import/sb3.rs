//! Stable-Baselines3's saved PPO policies: a zip with `data` (JSON) and `policy.pth`, which is a
//! zip with a pickle of tensors and their raw numbers.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use serde_json::Value as Json;
use zip::ZipArchive;

use super::foreign::ForeignPolicy;
use super::pickle::{self, Tensor, Value};
use crate::error::PolicyError;
use crate::network::{Activation, Layer, Mlp};

/// Most bytes of one entry, unpacked.
const MOST_BYTES: u64 = 1 << 29;

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// A tensor with its numbers.
struct Numbers {
    shape: Vec<usize>,
    numbers: Vec<f32>,
}

pub(super) fn read(bytes: &[u8], what: &str) -> Result<ForeignPolicy, PolicyError> {
    let bad = |reason: String| PolicyError::bad(what, reason);
    let mut archive = open(bytes, what)?;
    let data = entry(&mut archive, "data", what)?;
    let data: Json = serde_json::from_slice(&data).map_err(|e| bad(format!("its data: {e}")))?;
    let version = entry(&mut archive, "_stable_baselines3_version", what).unwrap_or_default();
    let version = String::from_utf8_lossy(&version).trim().to_owned();
    let weights = entry(&mut archive, "policy.pth", what)?;
    let tensors = tensors(&weights, what)?;
    let activation = activation(&data).map_err(bad)?;
    let mut layers = Vec::new();
    let mut number = 0;
    loop {
        let name = format!("mlp_extractor.policy_net.{number}");
        if !tensors.contains_key(&format!("{name}.weight")) {
            break;
        }
        layers.push(layer(&tensors, &name, activation, what)?);
        // Activations are numbered too.
        number += 2;
    }
    layers.push(layer(&tensors, "action_net", Activation::None, what)?);
    if let Some(name) = tensors.keys().find(|name| {
        name.contains("features_extractor") || name.contains("shared_net") || name.contains("lstm")
    }) {
        return Err(bad(format!(
            "it has {name}: only policies of full layers on plain observations are read"
        )));
    }
    let network = Mlp::new(layers)?;
    let inputs = inputs(&data, network.inputs());
    let steps = data.get("num_timesteps").and_then(Json::as_u64).unwrap_or(0);
    let source = format!("Stable-Baselines3 {version}, {steps} steps; {what}");
    if data["policy_kwargs"]["squash_output"] == Json::Bool(true) {
        return Err(bad("it squashes its outputs, which is not known here".to_owned()));
    }
    Ok(ForeignPolicy { inputs, bounds: bounds(&data, network.outputs()), network, source })
}

fn open<'a>(bytes: &'a [u8], what: &str) -> Result<Archive<'a>, PolicyError> {
    ZipArchive::new(Cursor::new(bytes))
        .map_err(|e| PolicyError::bad(what, format!("it is no whole zip: {e}")))
}

fn entry(archive: &mut Archive<'_>, name: &str, what: &str) -> Result<Vec<u8>, PolicyError> {
    let bad = |reason: String| PolicyError::bad(what, format!("{name}: {reason}"));
    let file = archive.by_name(name).map_err(|e| bad(e.to_string()))?;
    if file.size() > MOST_BYTES {
        return Err(bad(format!("{} bytes, at most {MOST_BYTES} are read", file.size())));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|e| bad(e.to_string()))?;
    Ok(bytes)
}

/// All tensors of a torch file by their names.
fn tensors(bytes: &[u8], what: &str) -> Result<BTreeMap<String, Numbers>, PolicyError> {
    let bad = |reason: String| PolicyError::bad(what, format!("policy.pth: {reason}"));
    let mut archive = open(bytes, what)?;
    let names = archive.file_names().filter_map(Result::ok);
    let pickle = names.map(|name| name.into_owned()).find(|name| name.ends_with("data.pkl"));
    let pickle = pickle.ok_or_else(|| bad("it has no data.pkl".to_owned()))?;
    let root = pickle.trim_end_matches("data.pkl").to_owned();
    if let Ok(order) = entry(&mut archive, &format!("{root}byteorder"), what)
        && order != b"little"
    {
        return Err(bad("its numbers are not little-endian".to_owned()));
    }
    let pickled = entry(&mut archive, &pickle, what)?;
    let Value::Dict(parts) = pickle::parse(&pickled, what)? else {
        return Err(bad("it holds no dictionary".to_owned()));
    };
    let mut found = BTreeMap::new();
    for (key, value) in parts {
        if let (Value::Text(name), Value::Tensor(tensor)) = (key, value) {
            let numbers = numbers(&mut archive, &root, &name, &tensor, what)?;
            found.insert(name, numbers);
        }
    }
    Ok(found)
}

fn numbers(
    archive: &mut Archive<'_>,
    root: &str,
    name: &str,
    tensor: &Tensor,
    what: &str,
) -> Result<Numbers, PolicyError> {
    let bad = |reason: String| PolicyError::bad(what, format!("tensor {name}: {reason}"));
    if tensor.kind != "torch.FloatStorage" {
        return Err(bad(format!("{}, only torch.FloatStorage is read", tensor.kind)));
    }
    let known = tensor.key.bytes().all(|b| b.is_ascii_digit()) && !tensor.key.is_empty();
    if !known || tensor.shape.len() != tensor.stride.len() || tensor.shape.len() > 2 {
        return Err(bad(format!("shape {:?}", tensor.shape)));
    }
    let bytes = entry(archive, &format!("{root}data/{}", tensor.key), what)?;
    let (raw, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || raw.len() as i64 != tensor.count {
        return Err(bad(format!("{} bytes for {} numbers", bytes.len(), tensor.count)));
    }
    let size = |sizes: &[i64]| -> Option<Vec<usize>> {
        sizes.iter().map(|n| usize::try_from(*n).ok().filter(|n| *n < 1 << 24)).collect()
    };
    let offset = usize::try_from(tensor.offset).ok();
    let (Some(shape), Some(stride), Some(offset)) =
        (size(&tensor.shape), size(&tensor.stride), offset)
    else {
        return Err(bad(format!("shape {:?}, stride {:?}", tensor.shape, tensor.stride)));
    };
    let (rows, columns) = match shape.as_slice() {
        [rows, columns] => (*rows, *columns),
        [rows] => (*rows, 1),
        _ => (1, 1),
    };
    if rows.saturating_mul(columns) > raw.len() {
        return Err(bad(format!("shape {shape:?} of {} numbers", raw.len())));
    }
    let mut numbers = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let at = row * stride.first().copied().unwrap_or(0)
                + column * stride.get(1).copied().unwrap_or(0);
            let place = offset.checked_add(at).and_then(|at| raw.get(at));
            let place = place.ok_or_else(|| bad("it reaches beyond its storage".to_owned()))?;
            numbers.push(f32::from_le_bytes(*place));
        }
    }
    Ok(Numbers { shape, numbers })
}

fn layer(
    tensors: &BTreeMap<String, Numbers>,
    name: &str,
    activation: Activation,
    what: &str,
) -> Result<Layer, PolicyError> {
    let find = |part: &str| {
        let name = format!("{name}.{part}");
        tensors.get(&name).ok_or_else(|| PolicyError::bad(what, format!("it has no {name}")))
    };
    let (weight, bias) = (find("weight")?, find("bias")?);
    let [outputs, inputs] = weight.shape[..] else {
        return Err(PolicyError::bad(what, format!("{name}.weight has shape {:?}", weight.shape)));
    };
    if bias.shape != [outputs] {
        return Err(PolicyError::bad(what, format!("{name}.bias has shape {:?}", bias.shape)));
    }
    Layer::new(&weight.numbers, &bias.numbers, inputs, activation)
}

/// What is between layers: as `policy_kwargs` says, or the default.
fn activation(data: &Json) -> Result<Activation, String> {
    let text = data["policy_kwargs"]["activation_fn"].as_str().unwrap_or("Tanh");
    if text.contains("Tanh") {
        Ok(Activation::Tanh)
    } else if text.contains("ReLU") && !text.contains("Leaky") && !text.contains("6") {
        Ok(Activation::Relu)
    } else {
        Err(format!("its activation is {text}; Tanh and ReLU are known"))
    }
}

/// Names and sizes of observations: of a dictionary's text `{'key': Box(low, high, (4,), float32),
/// …}`, or of one box.
fn inputs(data: &Json, count: usize) -> Vec<(String, usize)> {
    let text = data["observation_space"]["spaces"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    for part in text.split("Box(").collect::<Vec<_>>().windows(2) {
        let name = part[0].rsplit('\'').nth(1).unwrap_or_default().to_owned();
        let shape = part[1].split_once('(').and_then(|(_, rest)| rest.split_once(')'));
        let sizes = shape.map_or("", |(sizes, _)| sizes).split(',');
        let size = sizes.filter_map(|n| n.trim().parse::<usize>().ok());
        found.push((name, size.fold(1, usize::saturating_mul)));
    }
    if found.is_empty() {
        found.push(("observation".to_owned(), count));
    }
    found
}

/// Bounds of actions: `[-1. -1. …]` as numpy writes them.
fn bounds(data: &Json, count: usize) -> Option<[Vec<f32>; 2]> {
    let of = |key: &str| -> Option<Vec<f32>> {
        let text = data["action_space"][key].as_str()?;
        let words = text.split(|c: char| c.is_whitespace() || "[],".contains(c));
        let numbers = words.filter(|w| !w.is_empty()).map(|w| w.parse().ok());
        let numbers: Vec<f32> = numbers.collect::<Option<_>>()?;
        (numbers.len() == count).then_some(numbers)
    };
    Some([of("low")?, of("high")?])
}
