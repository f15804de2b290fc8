"""A hundred contact-rich episodes, recorded in one process and replayed in others, bit for bit."""

import json
import os
import subprocess

import pytest

CITRANGE = os.environ["CITRANGE_BIN"]


def run(folder, *args):
    return subprocess.run([CITRANGE, *args], check=True, cwd=folder, capture_output=True, text=True).stdout


@pytest.mark.parametrize("scene", ["orange_plate", "multi_table_assembly"])
def test_fifty_episodes(tmp_path, scene):
    run(tmp_path, "collect", scene, "--episodes", "50", "--seed", "11", "--cameras", "none", "--out", "set")
    for threads in ("1", "2"):
        # Episodes follow each other in the same process, so all but the first start in a used one.
        report = json.loads(run(tmp_path, "replay", "set", "--verify", "--threads", threads, "--json"))
        assert report["differing"] == 0
        assert len(report["episodes"]) == 50
        for episode in report["episodes"]:
            assert episode["bitwise"] is True
            assert episode["verify"]["steps"] >= 5000
