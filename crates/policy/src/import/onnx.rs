//! ONNX graphs that are one row of full layers: `Gemm` or `MatMul` and `Add`, `Relu`, `Tanh`,
//! `Clip`, several inputs joined by `Concat`.

use std::collections::BTreeMap;

use super::foreign::ForeignPolicy;
use super::protobuf::{Field, fields, varints};
use crate::error::PolicyError;
use crate::network::{Activation, Layer, Mlp};

/// Most nodes of a graph.
const MOST_NODES: usize = 10_000;

#[derive(Clone, Debug, Default)]
struct Tensor {
    sizes: Vec<usize>,
    numbers: Vec<f32>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    kind: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    numbers: BTreeMap<String, f64>,
    tensor: Option<Tensor>,
}

#[derive(Clone, Debug, Default)]
struct Graph {
    nodes: Vec<Node>,
    tensors: BTreeMap<String, Tensor>,
    inputs: Vec<(String, Option<usize>)>,
}

/// A layer that is being put together: weights by output, bias.
struct Open {
    weights: Vec<f32>,
    bias: Vec<f32>,
    inputs: usize,
    activation: Activation,
}

pub(super) fn read(bytes: &[u8], what: &str) -> Result<ForeignPolicy, PolicyError> {
    let bad = |reason: String| PolicyError::bad(what, format!("as ONNX: {reason}"));
    let graph = graph(bytes).map_err(bad)?;
    let (layers, bounds, joined) = follow(&graph).map_err(bad)?;
    let made: Result<Vec<Layer>, _> = layers
        .iter()
        .map(|open| Layer::new(&open.weights, &open.bias, open.inputs, open.activation))
        .collect();
    let network = Mlp::new(made?)?;
    let count = network.inputs();
    let inputs = joined
        .into_iter()
        .map(|name| {
            let known = graph.inputs.iter().find(|(input, _)| *input == name);
            (name, known.and_then(|(_, size)| *size).unwrap_or(count))
        })
        .collect();
    let bounds =
        bounds.map(|[low, high]| [vec![low; network.outputs()], vec![high; network.outputs()]]);
    Ok(ForeignPolicy { inputs, network, bounds, source: format!("ONNX; {what}") })
}

fn text(field: &Field<'_>) -> Result<String, String> {
    match field {
        Field::Bytes(bytes) => String::from_utf8(bytes.to_vec()).map_err(|e| e.to_string()),
        _ => Err("a name that is no text".to_owned()),
    }
}

fn bytes<'a>(field: &Field<'a>) -> Result<&'a [u8], String> {
    match field {
        Field::Bytes(bytes) => Ok(bytes),
        _ => Err("a number where a message belongs".to_owned()),
    }
}

fn graph(model: &[u8]) -> Result<Graph, String> {
    let model = fields(model)?;
    let found = model.iter().find(|(number, _)| *number == 7).ok_or("it has no graph")?;
    let mut graph = Graph::default();
    for (number, field) in fields(bytes(&found.1)?)? {
        match number {
            1 => graph.nodes.push(node(bytes(&field)?)?),
            5 => {
                let (name, tensor) = tensor(bytes(&field)?)?;
                graph.tensors.insert(name, tensor);
            }
            11 => graph.inputs.push(input(bytes(&field)?)?),
            _ => {}
        }
        if graph.nodes.len() > MOST_NODES {
            return Err(format!("more than {MOST_NODES} nodes"));
        }
    }
    let tensors = graph.tensors.clone();
    graph.inputs.retain(|(name, _)| !tensors.contains_key(name));
    // Constants are tensors too.
    for node in graph.nodes.iter().filter(|node| node.kind == "Constant") {
        if let (Some(name), Some(tensor)) = (node.outputs.first(), &node.tensor) {
            graph.tensors.insert(name.clone(), tensor.clone());
        }
    }
    graph.nodes.retain(|node| node.kind != "Constant");
    Ok(graph)
}

fn node(message: &[u8]) -> Result<Node, String> {
    let mut made = Node::default();
    for (number, field) in fields(message)? {
        match number {
            1 => made.inputs.push(text(&field)?),
            2 => made.outputs.push(text(&field)?),
            4 => made.kind = text(&field)?,
            5 => {
                let (mut name, mut value, mut held) = (String::new(), None, None);
                for (number, field) in fields(bytes(&field)?)? {
                    match (number, field) {
                        (1, _) => name = text(&field)?,
                        (2, Field::Fixed32(bits)) => value = Some(f64::from(f32::from_bits(bits))),
                        (3, Field::Number(whole)) => value = Some(whole.cast_signed() as f64),
                        (5, Field::Bytes(bytes)) => held = Some(tensor(bytes)?.1),
                        _ => {}
                    }
                }
                if let Some(value) = value {
                    made.numbers.insert(name, value);
                }
                made.tensor = made.tensor.or(held);
            }
            _ => {}
        }
    }
    Ok(made)
}

fn tensor(message: &[u8]) -> Result<(String, Tensor), String> {
    let (mut name, mut made, mut kind) = (String::new(), Tensor::default(), 0);
    let mut is_outside = false;
    for (number, field) in fields(message)? {
        match (number, field) {
            (1, Field::Number(size)) => made.sizes.push(size as usize),
            (1, Field::Bytes(packed)) => {
                made.sizes.extend(varints(packed)?.into_iter().map(|size| size as usize));
            }
            (2, Field::Number(number)) => kind = number,
            (4, Field::Bytes(packed)) | (9, Field::Bytes(packed)) => {
                let (raw, rest) = packed.as_chunks::<4>();
                if kind == 1 && !rest.is_empty() {
                    return Err("numbers that are cut off".to_owned());
                }
                made.numbers = raw.iter().map(|b| f32::from_le_bytes(*b)).collect();
            }
            (4, Field::Fixed32(bits)) => made.numbers.push(f32::from_bits(bits)),
            (8, _) => name = text(&field)?,
            (14, Field::Number(1)) => is_outside = true,
            _ => {}
        }
    }
    if is_outside {
        return Err(format!("{name} is kept in another file, which is not read"));
    }
    if kind == 1 {
        let count = made.sizes.iter().try_fold(1_usize, |n, size| n.checked_mul(*size));
        if made.sizes.len() > 4 || count != Some(made.numbers.len()) {
            let numbers = made.numbers.len();
            return Err(format!("{name}: {numbers} numbers of sizes {:?}", made.sizes));
        }
    } else {
        made.numbers.clear();
    }
    Ok((name, made))
}

/// Name and number of columns of an input.
fn input(message: &[u8]) -> Result<(String, Option<usize>), String> {
    let (mut name, mut size) = (String::new(), None);
    for (number, field) in fields(message)? {
        match number {
            1 => name = text(&field)?,
            2 => {
                for (_, kind) in fields(bytes(&field)?)?.iter().filter(|(number, _)| *number == 1) {
                    for (_, shape) in fields(bytes(kind)?)?.iter().filter(|(n, _)| *n == 2) {
                        for (_, dim) in fields(bytes(shape)?)? {
                            let dims = fields(bytes(&dim)?)?;
                            size = dims.iter().find_map(|(number, field)| match (number, field) {
                                (1, Field::Number(size)) => Some(*size as usize),
                                _ => None,
                            });
                        }
                    }
                }
            }
            _ => {}
        }
    }
    Ok((name, size))
}

/// Walks from the inputs to the end. Answers layers, bounds and the order of inputs.
#[expect(clippy::type_complexity, reason = "three parts of one answer")]
fn follow(graph: &Graph) -> Result<(Vec<Open>, Option<[f32; 2]>, Vec<String>), String> {
    let mut joined: Vec<String> = graph.inputs.iter().map(|(name, _)| name.clone()).collect();
    let mut at = joined.first().cloned().ok_or("it has no input")?;
    let mut layers: Vec<Open> = Vec::new();
    let mut bounds: Option<[f32; 2]> = None;
    for node in &graph.nodes {
        let output = node.outputs.first().cloned().unwrap_or_default();
        let constant = |at: usize| node.inputs.get(at).and_then(|name| graph.tensors.get(name));
        let continues = node.inputs.contains(&at);
        if node.kind == "Concat" && layers.is_empty() {
            joined.clone_from(&node.inputs);
            at = output;
            continue;
        }
        if !continues {
            return Err(format!("{} is beside the row of layers", node.kind));
        }
        match node.kind.as_str() {
            "Identity" | "Flatten" | "Cast" | "Dropout" => {}
            "Gemm" => {
                let is_set = |name: &str| node.numbers.get(name).is_some_and(|n| *n != 0.0);
                let scaled = ["alpha", "beta"]
                    .iter()
                    .any(|n| node.numbers.get(*n).is_some_and(|n| *n != 1.0));
                if is_set("transA") || scaled {
                    return Err("a Gemm with transA, alpha or beta".to_owned());
                }
                let weight = constant(1).ok_or("a Gemm without weights")?;
                let mut open = layer(weight, is_set("transB"))?;
                if let Some(bias) = constant(2) {
                    open.bias = broadcast(bias, open.bias.len())?;
                }
                layers.push(open);
            }
            "MatMul" => {
                let weight = constant(1).ok_or("a MatMul of what are no weights")?;
                layers.push(layer(weight, false)?);
            }
            "Add" => {
                let bias = constant(0).or(constant(1)).ok_or("an Add of what is no bias")?;
                let open = layers.last_mut().ok_or("an Add before any layer")?;
                if open.activation != Activation::None {
                    return Err("an Add behind an activation".to_owned());
                }
                let bias = broadcast(bias, open.bias.len())?;
                open.bias.iter_mut().zip(bias).for_each(|(to, from)| *to += from);
            }
            "Relu" | "Tanh" => {
                let open = layers.last_mut().ok_or("an activation before any layer")?;
                if open.activation != Activation::None {
                    return Err("two activations in a row".to_owned());
                }
                open.activation =
                    if node.kind == "Relu" { Activation::Relu } else { Activation::Tanh };
            }
            "Clip" | "Max" | "Min" => {
                let number = |at: usize| constant(at).and_then(|t| t.numbers.first().copied());
                let [low, high] = bounds.unwrap_or([f32::NEG_INFINITY, f32::INFINITY]);
                bounds = Some(match node.kind.as_str() {
                    "Clip" => [number(1).unwrap_or(low), number(2).unwrap_or(high)],
                    "Max" => [number(0).or(number(1)).ok_or("a Max of no number")?, high],
                    _ => [low, number(0).or(number(1)).ok_or("a Min of no number")?],
                });
            }
            other => {
                return Err(format!(
                    "it has {other}; Gemm, MatMul, Add, Relu, Tanh, Clip, Max, Min, Concat, \
                     Flatten and Identity are known"
                ));
            }
        }
        if bounds.is_some() && matches!(node.kind.as_str(), "Gemm" | "MatMul" | "Relu" | "Tanh") {
            return Err("bounds between layers".to_owned());
        }
        at = output;
    }
    Ok((layers, bounds, joined))
}

fn layer(weight: &Tensor, transposed: bool) -> Result<Open, String> {
    let [a, b] = weight.sizes[..] else {
        return Err(format!("weights of sizes {:?}", weight.sizes));
    };
    let (outputs, inputs) = if transposed { (a, b) } else { (b, a) };
    let mut weights = weight.numbers.clone();
    if weights.len() != outputs * inputs || weights.is_empty() {
        return Err("weights that are no matrix of numbers".to_owned());
    }
    if !transposed {
        for output in 0..outputs {
            for input in 0..inputs {
                weights[output * inputs + input] = weight.numbers[input * outputs + output];
            }
        }
    }
    Ok(Open { weights, bias: vec![0.0; outputs], inputs, activation: Activation::None })
}

fn broadcast(bias: &Tensor, count: usize) -> Result<Vec<f32>, String> {
    match bias.numbers.len() {
        1 => Ok(vec![bias.numbers[0]; count]),
        n if n == count => Ok(bias.numbers.clone()),
        n => Err(format!("{n} biases of {count} outputs")),
    }
}
