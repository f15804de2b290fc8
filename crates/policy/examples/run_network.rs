//! What a network answers: `run_network FILE`, a JSON list of inputs per line on stdin, one of
//! outputs per line on stdout. FILE: of Stable-Baselines3, ONNX, or what `citrange policy import`
//! wrote. `run_network FILE time` tells how long an answer takes, alone and in a batch of 256.

use std::io::BufRead as _;
use std::path::Path;
use std::time::Instant;

use citrange_lanes::Isa;
use citrange_policy::{ForeignPolicy, MlpScratch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let policy = ForeignPolicy::load(Path::new(words.get(1).ok_or("name a file")?))?;
    if words.get(2).is_some_and(|word| word == "time") {
        let inputs = vec![0.1_f32; 256 * policy.input_count()];
        let mut scratch = MlpScratch::default();
        for batch in [1, 256] {
            let rounds = 40_000 / batch;
            let mut best_us = f64::INFINITY;
            for _ in 0..5 {
                let began = Instant::now();
                for _ in 0..rounds {
                    let rows = &inputs[..batch * policy.input_count()];
                    std::hint::black_box(policy.network.forward(
                        Isa::best(),
                        batch,
                        rows,
                        &mut scratch,
                    ));
                }
                let took = began.elapsed().as_secs_f64();
                best_us = best_us.min(1e6 * took / (rounds * batch) as f64);
            }
            println!("batch {batch}: {best_us:.2} us each");
        }
        return Ok(());
    }
    for line in std::io::stdin().lock().lines() {
        let inputs: Vec<f32> = serde_json::from_str(&line?)?;
        println!("{}", serde_json::to_string(&policy.act(&inputs)?)?);
    }
    Ok(())
}
