"""Robots of other packages, raw: what docs/robots.md says of them still holds."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from foreign_robots import COLUMNS, WORKS, Trial

ROBOTS = Path(os.environ["CITRANGE_PEER_ROBOTS"])
SO101 = ROBOTS / "physicalai_so101_plugin/urdf/so101-follower"
ALOHA = ROBOTS / "gym_aloha/gym_aloha/assets/bimanual_viperx_transfer_cube.xml"
# Model, root, and the columns that do not work, with a word of the reason; None: not asked, it
# takes a debug build too long.
MODELS = [
    (ROBOTS / "gym_hil/gym_hil/assets/panda.xml", None, {"plan": None}),
    (SO101 / "so101_follower.xml", None, {}),
    (SO101 / "so101_follower.urdf", None, {}),
    (ALOHA, "vx300s_left", {"plan": None, "drive": "blocked", "gripper": "open"}),
]


def tried(model, root, known, folder):
    folder.mkdir()
    return Trial(model, folder, root, plans="plan" not in known).run()


def test_they_can_do_what_the_table_says(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(tried, *model, tmp_path / str(n)) for n, model in enumerate(MODELS)]
        for (path, _, known), run in zip(MODELS, runs):
            cells = run.result()
            for column in COLUMNS:
                if known.get(column, "") is None:
                    continue
                if column in known:
                    assert known[column] in cells[column], (path.name, column, cells[column])
                else:
                    assert cells[column] == WORKS, (path.name, column, cells[column])
