//! Adam (Kingma and Ba, 2015).

/// How fast old gradients are forgotten, and what keeps quotients finite.
const BETA: [f64; 2] = [0.9, 0.999];
const EPSILON: f64 = 1e-5;

/// Means of gradients and of their squares, for all parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Adam {
    pub(crate) means: Vec<Vec<f32>>,
    pub(crate) squares: Vec<Vec<f32>>,
    pub(crate) steps: u64,
}

impl Adam {
    /// For parameters of these sizes.
    pub(crate) fn new(sizes: impl Iterator<Item = usize>) -> Self {
        let means: Vec<_> = sizes.map(|size| vec![0.0; size]).collect();
        Self { squares: means.clone(), means, steps: 0 }
    }

    /// One step against the gradients, each multiplied by `scale` first.
    pub(crate) fn step<'a>(
        &mut self,
        parameters: impl Iterator<Item = &'a mut Vec<f32>>,
        gradients: impl Iterator<Item = &'a Vec<f32>>,
        scale: f32,
        rate: f64,
    ) {
        self.steps += 1;
        let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let [first, second] = BETA.map(|beta| 1.0 - beta.powi(steps));
        // Both corrections are taken into rate and epsilon: a division less for each number.
        let rate = (rate * second.sqrt() / first) as f32;
        let epsilon = (EPSILON * second.sqrt()) as f32;
        let [keep, keep_square] = BETA.map(|beta| beta as f32);
        let memory = self.means.iter_mut().zip(&mut self.squares);
        for ((parameter, gradient), (mean, square)) in parameters.zip(gradients).zip(memory) {
            let numbers = parameter.iter_mut().zip(gradient);
            for ((p, g), (m, s)) in numbers.zip(mean.iter_mut().zip(square.iter_mut())) {
                let g = g * scale;
                *m = keep * *m + (1.0 - keep) * g;
                *s = keep_square * *s + (1.0 - keep_square) * g * g;
                *p -= rate * *m / (s.sqrt() + epsilon);
            }
        }
    }
}
