//! Puts three.js where the crate can embed it, and lists the elements of the page.

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
    elements(&Path::new(env!("CARGO_MANIFEST_DIR")).join("web/elements"), &out)
}

/// Every file of the folder is an element of the page: `elements.rs` embeds them, `elements.js`
/// imports them all.
fn elements(folder: &Path, out: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|end| end == "js") {
            files.push(path);
        }
    }
    files.sort();
    let (mut rust, mut script, mut names) = (String::new(), String::new(), Vec::new());
    for (at, path) in files.iter().enumerate() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        rust += &format!(
            "    Asset {{ path: \"/elements/{name}\", kind: SCRIPT, \
             bytes: include_bytes!({path:?}), versioned: false }},\n"
        );
        script += &format!("import * as element{at} from \"./elements/{name}\";\n");
        names.push(format!("element{at}"));
    }
    rust = format!("const ELEMENTS: &[Asset] = &[\n{rust}];\n");
    script += &format!("export const elements = [{}];\n", names.join(", "));
    fs::write(out.join("elements.rs"), rust).map_err(fail)?;
    fs::write(out.join("elements.js"), script).map_err(fail)
}
