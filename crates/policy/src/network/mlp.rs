//! Networks of full layers: `y = f(W x + b)`, many samples at once.

use citrange_core::rng::Rng;
use citrange_lanes::{F32x16, Isa, LANES, kernel};
use serde::{Deserialize, Serialize};

use super::product::{Left, Sizes, multiply};
use crate::error::PolicyError;

/// What comes behind a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// Nothing.
    None,
    /// `max(x, 0)`
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

/// Most numbers that a layer may have: no file makes us ask for absurd memory.
const MOST_WEIGHTS: usize = 1 << 26;

/// One layer. Weights lie input after input, each padded with zeros to whole vectors of outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    inputs: usize,
    /// Inputs with what the layer before is padded with: rows of the weights.
    rows: usize,
    outputs: usize,
    padded: usize,
    activation: Activation,
    /// `rows x padded`
    pub(crate) weights: Vec<f32>,
    /// `padded`
    pub(crate) bias: Vec<f32>,
}

impl Layer {
    /// Zeros.
    fn zeros(inputs: usize, outputs: usize, activation: Activation) -> Self {
        let padded = outputs.next_multiple_of(LANES);
        let (weights, bias) = (vec![0.0; inputs * padded], vec![0.0; padded]);
        Self { inputs, rows: inputs, outputs, padded, activation, weights, bias }
    }

    /// From weights as other libraries keep them: output after output.
    ///
    /// # Errors
    /// When there are not as many numbers as `outputs x inputs` and `outputs`, none at all, far
    /// too many, or one is no number.
    pub fn new(
        weights: &[f32],
        bias: &[f32],
        inputs: usize,
        activation: Activation,
    ) -> Result<Self, PolicyError> {
        let outputs = bias.len();
        let bad = |reason: String| Err(PolicyError::bad("a layer", reason));
        if inputs == 0 || outputs == 0 || inputs.saturating_mul(outputs) > MOST_WEIGHTS {
            return bad(format!("{inputs} inputs and {outputs} outputs"));
        }
        if weights.len() != inputs * outputs {
            return bad(format!("{} weights for {outputs} x {inputs}", weights.len()));
        }
        if !weights.iter().chain(bias).all(|w| w.is_finite()) {
            return bad("a weight is not a finite number".to_owned());
        }
        let mut made = Self::zeros(inputs, outputs, activation);
        for output in 0..outputs {
            for input in 0..inputs {
                made.weights[input * made.padded + output] = weights[output * inputs + input];
            }
        }
        made.bias[..outputs].copy_from_slice(bias);
        Ok(made)
    }

    /// Orthogonal rows or columns times a gain (Saxe and others, 2014); no bias.
    fn orthogonal(
        inputs: usize,
        outputs: usize,
        activation: Activation,
        gain: f64,
        rng: &mut Rng,
    ) -> Self {
        let (long, short) = (inputs.max(outputs), inputs.min(outputs));
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(short);
        while rows.len() < short {
            let mut row: Vec<f64> = (0..long).map(|_| normal(rng)).collect();
            // Gram and Schmidt, twice for accuracy.
            for before in rows.iter().chain(&rows) {
                let along: f64 = row.iter().zip(before).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(before).for_each(|(a, b)| *a -= along * b);
            }
            let length = row.iter().map(|a| a * a).sum::<f64>().sqrt();
            if length > 1e-6 {
                row.iter_mut().for_each(|a| *a /= length);
                rows.push(row);
            }
        }
        let mut made = Self::zeros(inputs, outputs, activation);
        for input in 0..inputs {
            for output in 0..outputs {
                let of = if inputs <= outputs { rows[input][output] } else { rows[output][input] };
                made.weights[input * made.padded + output] = (gain * of) as f32;
            }
        }
        made
    }

    /// Numbers that come in.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers that go out.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// What comes behind it.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Weights as other libraries keep them: output after output.
    #[must_use]
    pub fn weights_by_output(&self) -> Vec<f32> {
        let places = (0..self.outputs).flat_map(|o| (0..self.inputs).map(move |i| (i, o)));
        places.map(|(i, o)| self.weights[i * self.padded + o]).collect()
    }

    /// What is added.
    #[must_use]
    pub fn bias(&self) -> &[f32] {
        &self.bias[..self.outputs]
    }

    fn sizes(&self, rows: usize) -> Sizes {
        Sizes { rows, inner: self.rows, columns: self.padded }
    }
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// Layers one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp {
    layers: Vec<Layer>,
}

/// What came out of each layer, for one batch. Its memory is used again.
#[derive(Clone, Debug, Default)]
pub struct MlpScratch {
    outputs: Vec<Vec<f32>>,
}

/// Sums of gradients, in the shape of the network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MlpGradient {
    pub(crate) layers: Vec<(Vec<f32>, Vec<f32>)>,
}

/// Weights the other way round, for going backward.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transposed(Vec<Vec<f32>>);

/// Memory for going backward: gradients of what layers give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backward([Vec<f32>; 2]);

impl Mlp {
    /// From layers of which each takes what the one before gives.
    ///
    /// # Errors
    /// When there is none, or two do not fit.
    pub fn new(layers: Vec<Layer>) -> Result<Self, PolicyError> {
        if layers.is_empty() {
            return Err(PolicyError::bad("a network", "it has no layer"));
        }
        if let Some(pair) = layers.windows(2).find(|pair| pair[0].outputs != pair[1].inputs) {
            let reason =
                format!("a layer gives {}, the next takes {}", pair[0].outputs, pair[1].inputs);
            return Err(PolicyError::bad("a network", reason));
        }
        let mut made = Self { layers };
        made.pad();
        Ok(made)
    }

    /// Rows of zeros for what the layer before is padded with.
    fn pad(&mut self) {
        let mut before = self.inputs();
        for layer in &mut self.layers {
            layer.rows = before;
            layer.weights.resize(before * layer.padded, 0.0);
            before = layer.padded;
        }
    }

    /// Fresh: orthogonal layers with ReLU, gain √2; the last one linear with its own gain.
    pub(crate) fn fresh(sizes: &[usize], last_gain: f64, rng: &mut Rng) -> Self {
        let count = sizes.len().saturating_sub(1);
        let layer = |(index, pair): (usize, &[usize])| {
            let is_last = index + 1 == count;
            let gain = if is_last { last_gain } else { std::f64::consts::SQRT_2 };
            let activation = if is_last { Activation::None } else { Activation::Relu };
            Layer::orthogonal(pair[0], pair[1], activation, gain, rng)
        };
        let mut made = Self { layers: sizes.windows(2).enumerate().map(layer).collect() };
        made.pad();
        made
    }

    /// The layers.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Numbers that it takes.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.layers.first().map_or(0, Layer::inputs)
    }

    /// Numbers that it gives.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(0, Layer::outputs)
    }

    /// How far apart the answers of two samples are in [`Mlp::forward`].
    #[must_use]
    pub fn stride(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.padded)
    }

    /// All weights and biases, layer after layer.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Vec<f32>> {
        self.layers.iter().flat_map(|layer| [&layer.weights, &layer.bias])
    }

    /// The same, to be changed.
    pub(crate) fn parameters_mut(&mut self) -> impl Iterator<Item = &mut Vec<f32>> {
        self.layers.iter_mut().flat_map(|layer| [&mut layer.weights, &mut layer.bias])
    }

    /// What it answers to samples that lie one after the other. Answers are [`Mlp::stride`]
    /// apart.
    pub fn forward<'a>(
        &self,
        isa: Isa,
        samples: usize,
        inputs: &[f32],
        scratch: &'a mut MlpScratch,
    ) -> &'a [f32] {
        scratch.outputs.resize(self.layers.len(), Vec::new());
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, rest) = scratch.outputs.split_at_mut(index);
            let from = before.last().map_or(inputs, Vec::as_slice);
            let Some(to) = rest.first_mut() else { break };
            to.resize(samples * layer.padded, 0.0);
            spread_bias(to, &layer.bias);
            multiply(isa, Left::Rows, layer.sizes(samples), from, &layer.weights, to, true);
            activate(isa, layer.activation, to);
        }
        scratch.outputs.last().map_or(&[], Vec::as_slice)
    }

    /// Zero gradients.
    pub(crate) fn no_gradient(&self) -> MlpGradient {
        let layers = self.layers.iter();
        MlpGradient {
            layers: layers.map(|l| (vec![0.0; l.weights.len()], vec![0.0; l.bias.len()])).collect(),
        }
    }

    /// Adds the gradients of a batch for which [`Mlp::forward`] was run just before with `scratch`;
    /// `out_grad` is of what it answered. Only for networks of ReLU.
    pub(crate) fn backward(
        &self,
        isa: Isa,
        (samples, inputs): (usize, &[f32]),
        scratch: &MlpScratch,
        out_grad: &[f32],
        (transposed, memory): (&Transposed, &mut Backward),
        to: &mut MlpGradient,
    ) {
        let Backward([grad, next]) = memory;
        grad.clear();
        grad.extend_from_slice(out_grad);
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let from = match index.checked_sub(1).and_then(|i| scratch.outputs.get(i)) {
                Some(before) => before.as_slice(),
                None => inputs,
            };
            let (weights, bias) = &mut to.layers[index];
            let sizes = Sizes { rows: layer.rows, inner: samples, columns: layer.padded };
            multiply(isa, Left::Columns, sizes, from, grad, weights, true);
            for line in grad.chunks_exact(layer.padded) {
                bias.iter_mut().zip(line).for_each(|(sum, g)| *sum += g);
            }
            if index == 0 {
                break;
            }
            // The gradient of what came in, where it was above 0.
            if let Some(transposed) = transposed.0.get(index) {
                next.resize(samples * layer.rows, 0.0);
                let sizes = Sizes { rows: samples, inner: layer.padded, columns: layer.rows };
                multiply(isa, Left::Rows, sizes, grad, transposed, next, false);
                rectify(isa, next, from);
            }
            std::mem::swap(grad, next);
        }
    }

    /// Prepares [`Mlp::backward`] after the weights have changed.
    pub(crate) fn transpose(&self, memory: &mut Transposed) {
        memory.0.resize(self.layers.len(), Vec::new());
        for (layer, to) in self.layers.iter().zip(&mut memory.0) {
            to.resize(layer.weights.len(), 0.0);
            for (input, line) in layer.weights.chunks_exact(layer.padded).enumerate() {
                for (output, weight) in line.iter().enumerate() {
                    to[output * layer.rows + input] = *weight;
                }
            }
        }
    }
}

impl MlpGradient {
    pub(crate) fn clear(&mut self) {
        for (weights, bias) in &mut self.layers {
            weights.fill(0.0);
            bias.fill(0.0);
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (to, from) in self.layers.iter_mut().zip(&other.layers) {
            to.0.iter_mut().zip(&from.0).for_each(|(a, b)| *a += b);
            to.1.iter_mut().zip(&from.1).for_each(|(a, b)| *a += b);
        }
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = &Vec<f32>> {
        self.layers.iter().flat_map(|(weights, bias)| [weights, bias])
    }
}

fn spread_bias(to: &mut [f32], bias: &[f32]) {
    for line in to.chunks_exact_mut(bias.len()) {
        line.copy_from_slice(bias);
    }
}

kernel! {
    /// Applies the activation in place.
    fn activate(simd, activation: Activation, to: &mut [f32]) {
        match activation {
            Activation::None => {}
            Activation::Relu => {
                for place in (0..to.len() / LANES).map(|at| at * LANES) {
                    F32x16::load_at(simd, to, place).max(simd.splat(0.0)).store_at(to, place);
                }
            }
            Activation::Tanh => to.iter_mut().for_each(|x| *x = x.tanh()),
        }
    }
}

kernel! {
    /// Gradients are 0 where the output was.
    fn rectify(simd, grad: &mut [f32], output: &[f32]) {
        let zero = simd.splat(0.0);
        for place in (0..grad.len().min(output.len()) / LANES).map(|at| at * LANES) {
            let is_on = F32x16::load_at(simd, output, place).gt(zero);
            is_on.select(F32x16::load_at(simd, grad, place), zero).store_at(grad, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let mut rng = Rng::new(5);
        let mut net = Mlp::fresh(&[7, 32, 16, 3], 1.0, &mut rng);
        let isa = Isa::best();
        let samples = 9;
        let inputs: Vec<f32> = (0..samples * 7).map(|_| normal(&mut rng) as f32).collect();
        let wanted: Vec<f32> = (0..samples * 3).map(|_| normal(&mut rng) as f32).collect();
        let loss = |net: &Mlp| -> f64 {
            let mut scratch = MlpScratch::default();
            let out = net.forward(isa, samples, &inputs, &mut scratch);
            let each = (0..samples * 3).map(|i| {
                let off = out[i / 3 * net.stride() + i % 3] - wanted[i];
                f64::from(off * off) / 2.0
            });
            each.sum()
        };
        let mut scratch = MlpScratch::default();
        let out = net.forward(isa, samples, &inputs, &mut scratch).to_vec();
        let mut out_grad = vec![0.0; out.len()];
        for i in 0..samples * 3 {
            let at = i / 3 * net.stride() + i % 3;
            out_grad[at] = out[at] - wanted[i];
        }
        let (mut turned, mut memory) = (Transposed::default(), Backward::default());
        let mut gradient = net.no_gradient();
        net.transpose(&mut turned);
        let batch = (samples, inputs.as_slice());
        net.backward(isa, batch, &scratch, &out_grad, (&turned, &mut memory), &mut gradient);
        for layer in 0..3 {
            for at in [0, 1, 2, 17, 33, 40] {
                let step = 1e-3;
                let before = net.layers[layer].weights[at];
                net.layers[layer].weights[at] = before + step;
                let above = loss(&net);
                net.layers[layer].weights[at] = before - step;
                let below = loss(&net);
                net.layers[layer].weights[at] = before;
                // Padding has no gradient of its own.
                let column = at % net.layers[layer].padded;
                if column < net.layers[layer].outputs {
                    let measured = (above - below) / (2.0 * f64::from(step));
                    let told = f64::from(gradient.layers[layer].0[at]);
                    assert!((measured - told).abs() < 0.02 * (1.0 + told.abs()), "{layer} {at}");
                }
            }
        }
    }

    #[test]
    fn layers_come_out_as_they_went_in() {
        let weights: Vec<f32> = (0..15).map(|w| w as f32).collect();
        let layer = Layer::new(&weights, &[1.0, 2.0, 3.0], 5, Activation::Tanh).unwrap();
        assert_eq!(layer.weights_by_output(), weights);
        assert_eq!((layer.inputs(), layer.outputs(), layer.bias()), (5, 3, &[1.0, 2.0, 3.0][..]));
        assert!(Layer::new(&weights, &[1.0], 5, Activation::None).is_err());
        assert!(Layer::new(&[f32::NAN], &[1.0], 1, Activation::None).is_err());
        assert!(Mlp::new(vec![layer.clone(), layer]).is_err());
    }
}
