//! Takes the Rust out of documents, so that it is compiled and run as documentation tests. What a
//! document leaves out (imports, where things come from) is put around it here.

use std::path::Path;

/// A document, and what stands before and after its Rust.
const DOCUMENTS: [(&str, &str, &str); 2] = [
    (
        "README.md",
        "use std::sync::Arc;
use citrange_sim::{CompiledScene, StateQuery, Threads, World, load_scene};
fn main() -> Result<(), Box<dyn std::error::Error>> {
let targets = vec![0.0; 64 * 6];
",
        "Ok(())\n}\n",
    ),
    (
        "docs/plan.md",
        "use citrange_plan::*;
fn main() {}
fn plan(
    (arm, joints): (&PlannedArm, &[f64]),
    [obstacles, newer]: [&Obstacles; 2],
    (start, goals): (Config, Vec<Config>),
) -> Result<(), PlanError> {
",
        "drop((made, result));\nOk(())\n}\n",
    ),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new("../..");
    let mut text = String::new();
    for (file, before, after) in DOCUMENTS {
        println!("cargo:rerun-if-changed=../../{file}");
        let document = std::fs::read_to_string(root.join(file))?;
        let mut blocks = 0;
        for block in document.split("```rust\n").skip(1) {
            let code = block.split("```").next().unwrap_or_default();
            text.push_str(&format!("Of {file}:\n```rust\n{before}{code}{after}```\n\n"));
            blocks += 1;
        }
        if blocks == 0 {
            return Err(format!("{file} has no Rust: take it out of build.rs").into());
        }
    }
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("documents.md"), text)?;
    Ok(())
}
