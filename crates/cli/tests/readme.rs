//! README's commands, as they are printed, in order, in an empty folder, by a shell that finds
//! `citrange` on its PATH.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What is made smaller so that the test is short; everything else runs as printed.
const SHORTER: [(&str, &str); 3] = [
    ("--episodes 200", "--episodes 4"),
    ("train reach", "train reach --steps 81920"),
    ("eval reach", "eval reach --episodes 100 --attempts 4"),
];

/// The commands under "What it does today".
fn commands() -> Vec<String> {
    let readme = include_str!("../../../README.md");
    let block = readme.split_once("## What it does today\n```\n").unwrap().1;
    let block = block.split_once("\n```").unwrap().0;
    block.lines().map(str::to_owned).collect()
}

/// A shell for a line, in the folder, with our build first on the PATH.
fn shell(folder: &Path, line: &str) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_citrange"));
    let path = std::env::var("PATH").unwrap();
    // Who runs the tests in the background may ignore interrupts; a person's shell does not.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", "bash", "-c", &format!("exec {line}")]);
    command.current_dir(folder).stdin(Stdio::null());
    command.env("PATH", format!("{}:{path}", binary.parent().unwrap().display()));
    command.env_remove("LD_LIBRARY_PATH").env_remove("CITRANGE_MUJOCO");
    command
}

#[test]
fn every_command_of_the_readme_runs_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    // A line of the clone's own files.
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches");
    std::os::unix::fs::symlink(benches, folder.path().join("benches")).unwrap();
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for line in &commands {
        assert!(line.starts_with("citrange "), "{line}");
        let mut line = line.clone();
        for (printed, run) in SHORTER {
            line = line.replace(printed, run);
        }
        if line.starts_with("citrange drive ") {
            driven(folder.path(), &line);
            continue;
        }
        let done = shell(folder.path(), &line).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        // A doctor may warn of what this machine lacks.
        assert!(done.status.success(), "{line}: {said}");
    }
    for (file, bytes) in [
        ("front.png", 5_000),
        ("film.mp4", 5_000),
        ("map.bin", 1_000),
        ("map.png", 5_000),
        ("path.json", 1_000),
        ("path.mp4", 5_000),
        ("oranges_report/report.html", 20_000),
        ("more/meta/info.json", 500),
        ("parts/train/meta/info.json", 500),
        ("set/meta/info.json", 500),
        ("out/demo/report.html", 20_000),
    ] {
        let found = folder.path().join(file).metadata();
        let found = found.unwrap_or_else(|why| panic!("{file}: {why}"));
        assert!(found.len() > bytes, "{file}: {} bytes", found.len());
    }
}

/// A line that waits for a person: it serves its page until it is told to stop; in a terminal it
/// asks for one.
fn driven(folder: &Path, line: &str) {
    if line.contains("--tui") {
        let done = shell(folder, line).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("--tui needs a terminal"), "{line}: {said}");
        return;
    }
    let mut child = shell(folder, line).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    std::io::BufRead::read_line(&mut told, &mut first).unwrap();
    assert!(first.starts_with("open in a browser: http://127.0.0.1:"), "{line}: {first}");
    std::thread::sleep(Duration::from_secs(1));
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    std::io::copy(&mut told, &mut std::io::sink()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{line}");
}
