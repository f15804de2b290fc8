"""The real lerobot learns from what the autopilot collected, and shows it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CITRANGE = os.environ["CITRANGE_BIN"]
TOOLS = Path(sys.executable).parent
STEPS = 24
QUIET = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "SVT_LOG": "0"}


def run(folder, *words):
    environment = {**os.environ, **QUIET, "HF_HOME": str(folder / "hub")}
    done = subprocess.run([str(w) for w in words], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def oranges(tmp_path_factory):
    """Two whole episodes of the autopilot, exported."""
    folder = tmp_path_factory.mktemp("oranges")
    scene = Path(__file__).parent.parent / "scenes/orange_plate.yaml"
    small = scene.read_text().replace("fovy_deg:", "width_px: 128, height_px: 96, fovy_deg:")
    (folder / "small.yaml").write_text(small)
    said = run(folder, CITRANGE, "collect", "small.yaml", "--episodes", 2, "--seed", 4, "--out", "set")
    assert "100.0 % success" in said
    run(folder, CITRANGE, "data", "export", "set", "--to", "lerobot", "--out", "packed")
    return folder


def test_act_learns_from_it(oranges):
    said = run(
        oranges, TOOLS / "lerobot-train", "--dataset.repo_id=local/oranges", f"--dataset.root={oranges}/packed",
        "--policy.type=act", "--policy.push_to_hub=false", "--policy.pretrained_backbone_weights=null",
        "--policy.device=cpu", "--policy.chunk_size=20", "--policy.n_action_steps=20", "--policy.dim_model=64",
        "--policy.n_heads=4", "--policy.dim_feedforward=128", "--policy.n_encoder_layers=1", "--batch_size=4",
        f"--steps={STEPS}", "--log_freq=4", "--eval_freq=0", "--num_workers=0", "--save_checkpoint=false",
        f"--output_dir={oranges}/trained", "--wandb.enable=false", "--policy.optimizer_lr=0.0002",
    )
    losses = [float(loss) for loss in re.findall(r"loss:([\d.]+)", said)]
    assert len(losses) == STEPS // 4
    assert losses[-1] < 0.7 * losses[0], losses


def test_the_visualiser_opens_it(oranges):
    run(oranges, TOOLS / "lerobot-dataset-viz", "--repo-id", "local/oranges", "--root", oranges / "packed",
        "--episode-index", 1, "--save", 1, "--output-dir", oranges / "shown", "--num-workers", 0)
    (recording,) = (oranges / "shown").glob("*.rrd")
    run(oranges, TOOLS / "rerun", "rrd", "verify", recording)
    stats = run(oranges, TOOLS / "rerun", "rrd", "stats", recording)
    assert "observation.images.front" in run(oranges, TOOLS / "rerun", "rrd", "print", recording), stats
