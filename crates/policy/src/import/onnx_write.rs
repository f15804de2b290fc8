//! Our networks as ONNX: one input `observation`, one output `action`, both with a free batch.

use super::protobuf::Message;
use crate::network::{Activation, Mlp};

/// Of tensors: 32-bit floats.
const FLOAT: u64 = 1;

/// A network as the bytes of an ONNX file (opset 17).
#[must_use]
pub fn to_onnx(network: &Mlp) -> Vec<u8> {
    let mut graph = Message::default();
    let mut from = "observation".to_owned();
    let count = network.layers().len();
    for (index, layer) in network.layers().iter().enumerate() {
        let last = if index + 1 == count { "action".to_owned() } else { format!("layer{index}") };
        let activation = match layer.activation() {
            Activation::None => None,
            Activation::Relu => Some("Relu"),
            Activation::Tanh => Some("Tanh"),
        };
        let sum = if activation.is_some() { format!("sum{index}") } else { last.clone() };
        let (weight, bias) = (format!("weight{index}"), format!("bias{index}"));
        let transposed = Message::default().bytes(1, b"transB").number(3, 1).number(20, 2);
        let gemm = node("Gemm", &[&from, &weight, &bias], &sum).message(5, transposed);
        graph = graph.message(1, gemm);
        if let Some(activation) = activation {
            graph = graph.message(1, node(activation, &[&sum], &last));
        }
        let sizes = [layer.outputs(), layer.inputs()];
        graph = graph.message(5, tensor(&weight, &sizes, &layer.weights_by_output()));
        graph = graph.message(5, tensor(&bias, &sizes[..1], layer.bias()));
        from = last;
    }
    graph = graph.bytes(2, b"policy");
    graph = graph.message(11, value("observation", network.inputs()));
    graph = graph.message(12, value("action", network.outputs()));
    let opset = Message::default().bytes(1, b"").number(2, 17);
    let model = Message::default().number(1, 8).bytes(2, b"citrange");
    model.message(7, graph).message(8, opset).0
}

fn node(kind: &str, inputs: &[&str], output: &str) -> Message {
    let named = inputs.iter().fold(Message::default(), |m, input| m.bytes(1, input.as_bytes()));
    named.bytes(2, output.as_bytes()).bytes(4, kind.as_bytes())
}

fn tensor(name: &str, sizes: &[usize], numbers: &[f32]) -> Message {
    let sized = sizes.iter().fold(Message::default(), |m, size| m.number(1, *size as u64));
    let raw: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    sized.number(2, FLOAT).bytes(8, name.as_bytes()).bytes(9, &raw)
}

fn value(name: &str, size: usize) -> Message {
    let batch = Message::default().bytes(2, b"batch");
    let numbers = Message::default().number(1, size as u64);
    let shape = Message::default().message(1, batch).message(1, numbers);
    let tensor = Message::default().number(1, FLOAT).message(2, shape);
    Message::default().bytes(1, name.as_bytes()).message(2, Message::default().message(1, tensor))
}
