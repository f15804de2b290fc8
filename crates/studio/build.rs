//! Puts three.js where the crate can embed it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const FILES: [&str; 3] = ["three.module.min.js", "three.core.min.js", "LICENSE"];

fn main() -> Result<(), String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/web.sh");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", script.display());
    println!("cargo::rerun-if-env-changed=CITRANGE_CACHE");

    let help = "three.js is needed for the page: run `make setup` (it uses npm)";
    let run = Command::new("sh").arg(&script).output();
    let run = run.map_err(|e| format!("{}: {e}; {help}", script.display()))?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        return Err(format!("{}: {}; {help}", script.display(), said.trim()));
    }
    let folder = PathBuf::from(String::from_utf8_lossy(&run.stdout).trim());
    let out = PathBuf::from(env::var("OUT_DIR").map_err(|e| format!("OUT_DIR: {e}"))?);
    for file in FILES {
        let from = folder.join(file);
        fs::copy(&from, out.join(file)).map_err(|e| format!("{}: {e}; {help}", from.display()))?;
        println!("cargo::rerun-if-changed={}", from.display());
    }
    Ok(())
}
