"""A crate outside of the workspace builds with README's two files, and only with both."""

import os
import re
import shutil
import subprocess
from pathlib import Path

CLONE = Path(__file__).parent.parent
PROGRAM = """
fn main() -> Result<(), citrange_sim::SimError> {
    let scene = citrange_sim::CompiledScene::new(&citrange_sim::load_scene("orange_plate")?)?;
    println!("{}", scene.model_hash);
    Ok(())
}
"""


def test_readmes_lines_are_enough(tmp_path):
    (block,) = re.findall(r"```toml\n(# Cargo.toml.*?)```", (CLONE / "README.md").read_text(), re.S)
    manifest, config = block.split("# .cargo/config.toml\n")
    (tmp_path / "citrange").symlink_to(CLONE)
    mine = tmp_path / "mine"
    (mine / "src").mkdir(parents=True)
    (mine / ".cargo").mkdir()
    (mine / "Cargo.toml").write_text('[package]\nname = "mine"\nedition = "2024"\n' + manifest)
    (mine / "src/main.rs").write_text(PROGRAM)
    # The versions that are on this machine already.
    shutil.copy(CLONE / "Cargo.lock", mine)
    env = {key: value for key, value in os.environ.items() if key != "MUJOCO_DYNAMIC_LINK_DIR"}
    env["CARGO_TARGET_DIR"] = str(tmp_path / "target")

    def build():
        return subprocess.run(["cargo", "check", "--offline"], cwd=mine, env=env, capture_output=True, text=True)

    assert "MUJOCO_DYNAMIC_LINK_DIR" in build().stderr
    (mine / ".cargo/config.toml").write_text(config)
    done = build()
    assert done.returncode == 0, done.stderr[-2000:]
