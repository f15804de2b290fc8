"""Datasets of ours, read by the real lerobot; and the reading itself, on sets that are broken."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import lerobot_real
import lerobot_sets
import numpy as np
import pyarrow.parquet
import pytest
import torch
from lerobot_real import Files, load, problems

SCENE, SECONDS, FRAMES = "orange_plate", "2", 60


# --- the reading itself, on what lerobot records ------------------------------------------------


@pytest.fixture(scope="session")
def theirs(tmp_path_factory):
    """A dataset that lerobot's own recorder wrote."""
    return lerobot_sets.write(tmp_path_factory.mktemp("theirs") / "video")


def test_what_lerobot_records_has_no_problems(theirs):
    assert problems(theirs, own_std=False) == []


def test_what_lerobot_records_as_pictures_has_no_problems(tmp_path):
    assert problems(lerobot_sets.write(tmp_path / "set", kind="image"), own_std=False) == []


@pytest.mark.parametrize("way", lerobot_sets.BROKEN, ids=lambda way: way.__name__)
def test_a_broken_dataset_is_found(way, theirs, tmp_path):
    root = tmp_path / "set"
    shutil.copytree(theirs, root)
    way(root)
    found = problems(root, backends=("torchcodec",), own_std=False)
    assert any(lerobot_sets.BROKEN[way] in problem for problem in found), found


def test_the_wrong_deviation_of_lerobot_is_found(theirs):
    assert any("std" in problem for problem in problems(theirs, backends=("pyav",)))


def test_a_reader_that_shows_the_next_frame_is_found(theirs, monkeypatch):
    real = lerobot_real.frames_of
    late = lambda path: (frame for number, frame in enumerate(real(path)) if number != 3)
    monkeypatch.setattr(lerobot_real, "frames_of", late)
    found = problems(theirs, backends=("torchcodec",), own_std=False)
    assert any("is not the frame at that place" in problem for problem in found), found


def test_windows_that_reach_into_the_next_episode_are_found(theirs):
    found, files = [], Files(theirs)
    files.episodes[0]["dataset_to_index"] -= 1
    lerobot_real.check_chunks(found.append, files, "torchcodec")
    assert any("padding" in problem for problem in found), found


def test_another_frame_is_another_picture(theirs):
    same_pictures(theirs, theirs, [(k, k) for k in range(20)])
    for shift in (1, -1):
        with pytest.raises(AssertionError):
            same_pictures(theirs, theirs, [(k + shift, k) for k in range(1, 19)])


# --- what we record, edit and repair -------------------------------------------------------------


def citrange(*words):
    words = [os.environ["CITRANGE_BIN"], *map(str, words)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def collect_words(root, episodes, *more):
    return ("collect", SCENE, "--episodes", episodes, "--out", root, "--seconds", SECONDS, *more)


def lengths(root):
    return [episode["length"] for episode in Files(root).episodes]


def same_frames(one, two, pairs):
    """Frames of two datasets hold the same numbers, and the same pictures but for coding."""
    first, second = Files(one), Files(two)
    for feature in ("observation.state", "action"):
        left, right = first.numbers(feature), second.numbers(feature)
        for a, b in pairs:
            assert np.array_equal(left[a], right[b]), f"{feature} of {a} and {b}"
    same_pictures(one, two, pairs)


def same_pictures(one, two, pairs):
    """Some of the pairs look alike, and none looks more like a neighbour."""
    first, second = load(one), load(two)
    for a, b in pairs[:: max(1, len(pairs) // 6)]:
        for camera in first.meta.camera_keys:
            wanted = second[b][camera]

            def apart(index):
                return float((first[index][camera] - wanted).abs().mean())

            assert apart(a) < 2.5 / 255, f"{camera} of {a} and {b}"
            near = [i for i in (a - 2, a - 1, a + 1, a + 2) if 0 <= i < len(first)]
            assert apart(a) <= min(map(apart, near)) + 1e-4, f"{camera} of {a}: a neighbour of {b}"


@pytest.fixture(scope="session")
def ours(tmp_path_factory):
    """Three scripted episodes with all cameras of the scene."""
    root = tmp_path_factory.mktemp("ours") / "set"
    citrange(*collect_words(root, 3, "--seed", 1))
    return root


@pytest.fixture
def copy(ours, tmp_path):
    return shutil.copytree(ours, tmp_path / "set")


@pytest.fixture(scope="session")
def resumed(ours, tmp_path_factory):
    """A copy with one episode more, of another task."""
    root = shutil.copytree(ours, tmp_path_factory.mktemp("resumed") / "set")
    citrange(*collect_words(root, 1, "--seed", 2, "--task", "another task", "--resume"))
    return root


def test_a_recording_has_no_problems(ours):
    assert problems(ours) == []
    assert lengths(ours) == [FRAMES] * 3
    assert len(Files(ours).cameras) >= 2


@pytest.mark.skipif("CITRANGE_DRIVEN" not in os.environ, reason="nothing was driven before")
def test_a_recording_driven_by_keys_has_no_problems():
    assert problems(Path(os.environ["CITRANGE_DRIVEN"])) == []


def test_act_trains_on_a_recording(ours):
    from lerobot.policies.act.configuration_act import ACTConfig
    from lerobot.policies.factory import make_policy, make_pre_post_processors

    torch.manual_seed(0)
    small = ACTConfig(
        chunk_size=6, n_action_steps=6, dim_model=32, n_heads=2, dim_feedforward=64, latent_dim=8,
        n_encoder_layers=1, n_decoder_layers=1, n_vae_encoder_layers=1, device="cpu",
        pretrained_backbone_weights=None, push_to_hub=False,
    )
    data = load(ours, delta_timestamps={"action": [k / Files(ours).fps for k in range(6)]})
    policy = make_policy(small, ds_meta=data.meta)
    before, _ = make_pre_post_processors(small, dataset_stats=data.meta.stats)
    assert len(small.image_features) == len(data.meta.camera_keys)
    batch = next(iter(torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)))
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
    policy.train()
    losses = []
    for _ in range(4):
        loss, _ = policy.forward(before(dict(batch)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert np.isfinite(losses).all() and losses[-1] < losses[0], losses


def test_a_resumed_recording_has_no_problems(ours, resumed):
    assert problems(resumed, backends=("torchcodec",)) == []
    assert lengths(resumed) == [FRAMES] * 4
    assert Files(resumed).episodes[3]["tasks"] == ["another task"]
    same_frames(ours, resumed, [(k, k) for k in range(3 * FRAMES)])


def test_pictures_without_loss_have_no_problems(tmp_path):
    root = tmp_path / "set"
    citrange(*collect_words(root, 2, "--seed", 1, "--images", "front", "--depth", "all"))
    assert problems(root, backends=("torchcodec",)) == []
    kinds = {key: feature["dtype"] for key, feature in Files(root).features.items()}
    assert kinds["observation.images.front"] == "image"
    assert "video" in kinds.values()


@pytest.mark.parametrize("whose", ["ours", "theirs"])
def test_a_footer_that_pyarrow_refuses_is_refused(whose, request, tmp_path):
    """Readers differ in what of a footer they look at: what pyarrow refuses must not pass here."""
    root = shutil.copytree(request.getfixturevalue(whose), tmp_path / "set")
    path = root / "data/chunk-000/file-000.parquet"
    whole, chance, refused = path.read_bytes(), random.Random(14), 0
    begins = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    # The inside of the Arrow schema is for the library that reads it.
    schema = re.search(rb"ARROW:schema.{1,3}/{5}[\w+/=]{20}([\w+/=]+)", whole[begins:], re.DOTALL)
    inside = range(begins + schema.start(1), begins + schema.end(1))
    places = [place for place in range(begins, len(whole)) if place not in inside]
    while refused < 150:
        damaged, at = bytearray(whole), chance.choice(places)
        damaged[at] = chance.choice([damaged[at] ^ 1 << chance.randrange(8), chance.randrange(256)])
        try:
            pyarrow.parquet.read_table(pyarrow.BufferReader(bytes(damaged)))
            continue
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
            refused, why = refused + 1, error
        path.write_bytes(damaged)
        check = subprocess.run(
            [os.environ["CITRANGE_BIN"], "data", "check", root], capture_output=True, text=True
        )
        assert check.returncode in (3, 4), f"byte {at - begins}: {why}: {check.stderr}"
    path.write_bytes(whole)
    citrange("data", "check", root)


def test_deleting_an_episode(ours, copy):
    citrange("data", "delete", copy, "--episodes", 1)
    assert problems(copy, backends=("torchcodec",), gaps=True) == []
    assert lengths(copy) == [FRAMES] * 2
    kept = [*range(FRAMES), *range(2 * FRAMES, 3 * FRAMES)]
    same_frames(ours, copy, list(zip(kept, range(2 * FRAMES))))


def test_trimming_an_episode(ours, copy):
    citrange("data", "trim", copy, "--episode", 0, "--frames", "7:40")
    assert problems(copy, backends=("torchcodec",), gaps=True) == []
    assert lengths(copy) == [33, FRAMES, FRAMES]
    kept = [*range(7, 40), *range(FRAMES, 3 * FRAMES)]
    same_frames(ours, copy, list(zip(kept, range(len(kept)))))


def test_splitting_an_episode(ours, copy):
    citrange("data", "split", copy, "--episode", 0, "--at", 23)
    assert problems(copy, backends=("torchcodec",), gaps=True) == []
    assert lengths(copy) == [23, FRAMES - 23, FRAMES, FRAMES]
    same_frames(ours, copy, [(k, k) for k in range(3 * FRAMES)])


def test_labelling_an_episode(copy):
    before = Files(copy).episodes[1]["tasks"]
    citrange("data", "label", copy, "--episodes", 0, "--task", "another task")
    assert problems(copy, backends=("torchcodec",)) == []
    assert [e["tasks"] for e in Files(copy).episodes] == [["another task"], before, before]


def test_merging_two_sets(ours, resumed, tmp_path):
    merged = tmp_path / "merged"
    citrange("data", "merge", ours, resumed, "--out", merged)
    assert problems(merged, backends=("torchcodec",), gaps=True) == []
    assert lengths(merged) == [FRAMES] * 7
    assert len(Files(merged).tasks) == 2
    same_frames(resumed, merged, [(k, k + 3 * FRAMES) for k in range(4 * FRAMES)])


def test_an_export_is_packed_into_few_files(resumed, tmp_path):
    packed = tmp_path / "packed"
    citrange("data", "export", resumed, "--to", "lerobot", "--out", packed)
    assert problems(packed) == []
    assert len(list(packed.glob("data/*/*.parquet"))) == 1
    assert len(list(packed.glob("videos/*/*/*.mp4"))) == len(Files(packed).videos)
    same_frames(resumed, packed, [(k, k) for k in range(4 * FRAMES)])


@pytest.fixture
def recorder(tmp_path):
    """A recording under way, of more episodes than any test waits for."""
    root = tmp_path / "live"
    words = [os.environ["CITRANGE_BIN"], *map(str, collect_words(root, 500, "--seed", 3))]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield process, root
    process.kill()
    process.wait()


def wait_for_episodes(process, root, count):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        assert process.poll() is None, "the recording ended"
        info = root / "meta/info.json"
        if info.exists() and json.loads(info.read_text())["total_episodes"] >= count:
            return
        time.sleep(0.005)
    raise AssertionError(f"no {count} episodes within 120 s")


# Right after an episode was saved, and inside the next one.
@pytest.mark.parametrize("later_secs", [0.0, 0.07])
def test_a_killed_recording_is_repaired(recorder, later_secs):
    process, root = recorder
    wait_for_episodes(process, root, 2)
    time.sleep(later_secs)
    process.send_signal(signal.SIGKILL)
    process.wait()
    citrange("data", "repair", root)
    assert problems(root, backends=("torchcodec",)) == []
    assert len(lengths(root)) >= 2


def small_scene(folder):
    """The scene with pictures that cost nothing, so that kills fall everywhere and not on coding."""
    text = (Path(__file__).parent.parent / f"scenes/{SCENE}.yaml").read_text()
    path = folder / "small.yaml"
    path.write_text(text.replace("fovy_deg:", "width_px: 64, height_px: 48, fovy_deg:"))
    return path


def saved_before(process, secs):
    """Kills the recorder after some time; gives the lengths of episodes it said were saved."""
    time.sleep(secs)
    assert process.poll() is None, "the recording ended"
    process.send_signal(signal.SIGKILL)
    said = process.communicate()[0].splitlines()
    lines = [json.loads(line) for line in said if line.endswith("}")]
    return [line["frames"] for line in lines if line["event"] == "saved"]


@pytest.mark.parametrize("number", range(int(os.environ.get("CITRANGE_KILLS", "6"))))
def test_a_killed_recording_is_read_before_and_after_the_repair(number, tmp_path):
    root, chance = tmp_path / "set", np.random.default_rng(number)
    words = ("collect", small_scene(tmp_path), "--out", root, "--episodes", 50, "--seconds", 0.5,
             "--speed", 1, "--json")
    process = subprocess.Popen([os.environ["CITRANGE_BIN"], *map(str, words)], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    saved = saved_before(process, chance.uniform(1.2, 3.5))
    if not (root / "meta/info.json").exists():
        assert saved == []
        pytest.skip("killed before the first save")
    # As it was left: whatever is counted can be read.
    data = load(root)
    assert data.num_episodes >= len(saved)
    assert [data.meta.episodes[k]["length"] for k in range(len(saved))] == saved
    assert [int(data[index]["index"]) for index in range(sum(saved))] == list(range(sum(saved)))
    citrange("data", "repair", root)
    assert problems(root, backends=("torchcodec",)) == []
    assert lengths(root)[: len(saved)] == saved


def test_a_set_is_read_while_it_is_recorded(recorder):
    process, root = recorder
    for episodes in (1, 3):
        wait_for_episodes(process, root, episodes)
        data = load(root)
        assert len(data) >= episodes * FRAMES
        for index in range(0, len(data), 7):
            item = data[index]
            assert int(item["index"]) == index
            assert int(item["episode_index"]) == index // FRAMES
    assert process.poll() is None, "the recording ended before the reading"


def test_lerobot_goes_on_recording_into_our_set(ours, copy):
    data = load(copy, vcodec="h264")
    lerobot_sets.add_episode(data, 25, "another task", 4)
    data.finalize()
    assert problems(copy, own_std=False) == []
    assert lengths(copy) == [FRAMES] * 3 + [25]
    same_frames(ours, copy, [(k, k) for k in range(3 * FRAMES)])
