"""The real h5py reads our demonstration files, and we read what it writes."""

import json
import os
import subprocess
import sys
import zlib
from unittest.mock import MagicMock

import h5py
import numpy as np
import pytest

FILES = os.environ["CITRANGE_HDF5_FILES"]
MODEL = '<mujoco model="Würfel">' + '<body name="b"/>' * 6000 + "</mujoco>"


def run(*args):
    done = subprocess.run([FILES, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def dump(path):
    return json.loads(run("dump", path))


def ramp(shape, step):
    return (np.arange(np.prod(shape)) * step - 1.0).reshape(shape)


def pictures(frames, height, width):
    one = np.arange(height * width * 3) * 7
    all_frames = (np.arange(frames)[:, None] * 31 + one[None]) % 251
    return all_frames.astype(np.uint8).reshape(frames, height, width, 3)


def same(dataset, expected, dtype):
    assert dataset.dtype == np.dtype(dtype), dataset
    assert dataset.shape == expected.shape, dataset
    assert dataset[()].tobytes() == expected.astype(dtype).tobytes(), dataset


@pytest.mark.parametrize("storage", ["gzip", "plain"])
def test_h5py_reads_our_demo(tmp_path, storage):
    path = tmp_path / "demo.h5"
    run("demo", path, storage)
    with h5py.File(path) as f:
        texts = {
            "environment": "Stack",
            "robots": "['Panda']",
            "start_time": "2026-03-14T15:09:26",
            "format": "citrange 1",
            "empty": "",
        }
        numbers = {
            "episode_number": np.int64(7),
            "total_steps": np.int64(70),
            "duration": np.float64(3.5),
            "success": np.bool_(True),
            "randomization_enabled": np.bool_(False),
            "randomization_seed": np.int64(-3),
            "large": np.uint64(2**64 - 1),
        }
        assert set(f.attrs) == set(texts) | set(numbers) | {"gains"}
        for name, value in texts.items():
            assert isinstance(f.attrs[name], str) and f.attrs[name] == value
        for name, value in numbers.items():
            assert type(f.attrs[name]) is type(value) and f.attrs[name] == value
        assert f.attrs["gains"].tolist() == [0.1, 2.2250738585072014e-308]

        assert h5py.check_string_dtype(f["model_xml"].dtype) == ("utf-8", None)
        assert f["model_xml"].asstr()[()] == MODEL
        start = f["initial_state_data"]
        assert start["body_names"].asstr()[()].tolist() == ["world", "Würfel"]
        same(f["initial_state"], ramp(45, 0.1), "<f8")
        same(start["qpos"], ramp(23, 0.1), "<f8")
        same(start["qvel"], ramp(21, 0.2), "<f8")
        same(start["time"], np.array(0.3), "<f8")
        same(start["body_pos"], np.array([[0.1, 0.2, 0.3], [-0.0, 1e-300, 2.5]]), "<f8")
        same(start["body_rot"], np.array([[1.0] * 9, [0.5] * 9]), "<f8")
        same(f["cubeA_joint_qpos"], ramp(7, 0.1), "<f8")
        same(f["robot0_joint_pos"], ramp(7, 0.3), "<f8")
        same(f["actions"], ramp((70, 7), 0.01), "<f8")
        same(f["rewards"], ramp(70, 0.5), "<f8")
        same(f["timestamps"], ramp(70, 0.05), "<f8")
        same(f["dones"], np.arange(70) == 69, bool)
        same(f["robot_states/robot0_joint_pos"], ramp((70, 7), 0.1), "<f8")
        assert f["robot_states"].attrs["keys"].tolist() == ["robot0_joint_pos"]
        same(f["gripper_states/robot0_right_gripper_qpos"], ramp((70, 2), 0.1), "<f8")
        same(f["observables/reward_like"], ramp(70, 0.7), "<f8")
        same(f["citrange/tape"], np.arange(256), "u1")
        same(f["citrange/nothing"], np.zeros(0), "u1")
        for name, height, width in [("agentview", 12, 16), ("robot0_eye_in_hand", 5, 3)]:
            camera = f["camera_images"][name]
            same(camera, pictures(70, height, width), "u1")
            assert camera.compression == ("gzip" if storage == "gzip" else None)
            assert camera.chunks == ((1, height, width, 3) if storage == "gzip" else None)
            assert (camera[68] == pictures(70, height, width)[68]).all()
        names = []
        f.visit(names.append)
        assert len(names) == 27


def test_h5py_reads_our_robomimic_file(tmp_path):
    path = tmp_path / "demo.hdf5"
    run("robomimic", path)
    with h5py.File(path) as f:
        data = f["data"]
        expected = {
            "env": "Stack",
            "env_info": '{"env_name": "Stack"}',
            "repository_version": "1.5.2",
            "date": "3-14-2026",
            "time": "15:9:26",
        }
        for name, value in expected.items():
            assert isinstance(data.attrs[name], str) and data.attrs[name] == value
        assert json.loads(data.attrs["env_args"])["type"] == 1
        assert type(data.attrs["total"]) is np.int64
        assert data.attrs["total"] == sum(range(20, 32))
        assert set(data) == {f"demo_{k}" for k in range(12)}
        for k in range(12):
            demo, steps = data[f"demo_{k}"], 20 + k
            assert isinstance(demo.attrs["model_file"], str)
            assert demo.attrs["model_file"] == MODEL
            assert demo.attrs["ep_meta"] == "{}"
            assert type(demo.attrs["num_samples"]) is np.int64
            assert demo.attrs["num_samples"] == steps
            same(demo["states"], ramp((steps, 45), 0.1), "<f8")
            same(demo["actions"], ramp((steps, 7), 0.002), "<f8")
            same(demo["rewards"], ramp(steps, 0.5), "<f8")
            same(demo["dones"], np.arange(steps) == steps - 1, "<i8")
            for group, shift in [("obs", 0.0), ("next_obs", 0.5)]:
                same(demo[group]["robot0_eef_pos"], ramp((steps, 3), 0.1 + shift), "<f8")
                same(demo[group]["object"], ramp((steps, 10), 0.2 + shift), "<f8")
                same(demo[group]["agentview_image"], pictures(steps, 8, 8), "u1")
        # As robomimic reads it: byte strings.
        assert f["mask/train"][()].tolist() == [b"demo_0", b"demo_2", b"demo_11"]
        assert f["mask/valid"].dtype == "S6"
    # What robomimic's tools do to a file: add to it.
    with h5py.File(path, "r+") as f:
        f["mask/more"] = np.array([b"demo_3"])
        f["data/demo_0/actions_abs"] = np.zeros((20, 7))
        for k in range(20):
            f["data"].attrs[f"extra_{k}"] = k
            f.create_group(f"data/demo_{100 + k}")
        f["data"].attrs["env_args"] = "{}"
        del f["data/demo_5"]
    back = dump(path)
    assert back["masks"]["more"] == ["demo_3"]
    assert back["env_args"] == "{}" and back["other"]["extra_19"] == 19
    assert [d["name"] for d in back["demos"]][4:6] == ["demo_4", "demo_6"]
    assert back["demos"][0]["skipped"] == ["/data/demo_0/actions_abs"]
    assert back["demos"][1]["model_file"] == MODEL


@pytest.mark.parametrize("length", [1, 7, 8, 4047, 4048, 4049, 4064, 4065, 4080, 4081, 70000])
def test_we_read_texts_of_h5py_of_any_length(tmp_path, length):
    path = tmp_path / "demo.h5"
    with h5py.File(path, "w") as f:
        f["model_xml"] = "x" * length
        f.attrs["environment"] = "y" * length
        f["rewards"] = [1.0]
    back = dump(path)
    assert back["model_xml"] == "x" * length
    assert back["attrs"]["environment"] == "y" * length


@pytest.mark.parametrize("libver", ["earliest", "v108", "latest"])
@pytest.mark.parametrize("options", [{}, {"compression": "gzip", "shuffle": True}])
def test_we_read_rich_demos_of_h5py(tmp_path, libver, options):
    path = tmp_path / "demo.h5"
    rng = np.random.default_rng(3)
    actions, images = rng.normal(size=(300, 7)), rng.integers(0, 255, (30, 24, 32, 3), np.uint8)
    with h5py.File(path, "w", libver=libver) as f:
        f.attrs["episode_number"] = 3
        f.attrs["environment"] = np.bytes_("Stack")
        f.attrs["robots"] = "['Panda']"
        f.attrs["success"] = True
        f.attrs["start_time"] = 1773500966.25
        f.attrs["duration"] = np.float32(0.5)
        f.attrs["randomization_seed"] = "None"
        f.attrs["total_steps"] = np.uint16(300)
        for k in range(20):
            f.attrs[f"many_{k}"] = k
        f["model_xml"] = np.bytes_("<mujoco/>")
        f.create_dataset("actions", data=actions, maxshape=(None, 7), chunks=(64, 7), **options)
        f["dones"] = np.arange(300) == 299
        f.create_dataset("rewards", data=np.arange(300, dtype="f4") / 4, **options)
        f.create_dataset("timestamps", data=np.arange(300) / 20, chunks=(7,), fletcher32=True)
        f.create_dataset("camera_images/agentview", data=images, **options)
        f["initial_state_data/body_rot"] = np.tile(np.eye(3), (4, 1, 1))
        f["initial_state_data/body_names"] = ["world", "cube", "Würfel", ""]
        f.create_dataset("observables/depth", data=np.ones((30, 4, 5, 1), "f4"), **options)
        f["observables/flag"] = np.array([True, False])
        f["robot_states/robot0_joint_pos"] = actions
        f.create_dataset("grown_qpos", shape=(0,), maxshape=(None,), chunks=(3,), dtype="f8")
        for k in range(7):
            f["grown_qpos"].resize((k + 1,))
            f["grown_qpos"][k] = k / 10
    back = dump(path)
    attrs = back["attrs"]
    assert attrs["episode_number"] == 3 and attrs["environment"] == "Stack"
    assert attrs["success"] is True and attrs["start_time"] == 1773500966.25
    assert attrs["duration"] == 0.5 and attrs["randomization_seed"] == "None"
    assert attrs["total_steps"] == 300 and attrs["other"]["many_19"] == 19
    assert back["model_xml"] == "<mujoco/>"
    assert back["actions"] == {"shape": [300, 7], "data": actions.ravel().tolist()}
    assert back["dones"] == [False] * 299 + [True]
    assert back["rewards"] == (np.arange(300) / 4).tolist()
    assert back["timestamps"] == (np.arange(300) / 20).tolist()
    expected = {"shape": [30, 24, 32, 3], "crc32": zlib.crc32(images.tobytes())}
    assert back["cameras"]["agentview"] == expected
    assert back["initial_state_data"]["body_rot"] == [np.eye(3).ravel().tolist()] * 4
    assert back["initial_state_data"]["body_names"] == ["world", "cube", "Würfel", ""]
    assert back["observables"]["depth"] == {"shape": [30, 4, 5, 1], "data": [1.0] * 600}
    assert back["observables"]["flag"] == {"shape": [2], "data": [1.0, 0.0]}
    assert back["robot_states"]["robot0_joint_pos"]["shape"] == [300, 7]
    assert back["named_joints"]["grown_qpos"] == [k / 10 for k in range(7)]
    assert back["skipped"] == []


def test_we_read_poor_demos_of_h5py(tmp_path):
    path = tmp_path / "old.h5"
    with h5py.File(path, "w") as f:
        f["initial_state"] = [0.0, 0.1, -0.0]
        f["rewards"] = h5py.Empty("f8")
        f.attrs["environment"] = h5py.Empty("S4")
    back = dump(path)
    assert back["kind"] == "demo" and back["initial_state"] == [0.0, 0.1, -0.0]
    assert back["actions"] is None and back["initial_state_data"] is None
    assert back["rewards"] is None and back["attrs"]["environment"] is None
    with h5py.File(path, "w") as f:
        f["cubeA_joint_qpos"] = np.arange(7.0)
        f["robot0_joint_pos"] = np.arange(6.0)
    back = dump(path)
    assert back["kind"] == "demo" and back["initial_state"] is None
    assert back["named_joints"] == {
        "cubeA_joint_qpos": list(range(7)),
        "robot0_joint_pos": list(range(6)),
    }
    with h5py.File(path, "w") as f:
        f["something"] = [1]
    assert dump(path) == {"kind": "other", "what": "an HDF5 file with something"}


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_we_read_robosuites_own_files(tmp_path, libver):
    path = tmp_path / "demo.hdf5"
    with h5py.File(path, "w", libver=libver) as f:
        data = f.create_group("data")
        for k in [0, 1, 2, 10, 11]:
            demo = data.create_group(f"demo_{k}")
            demo.attrs["model_file"] = MODEL
            demo.create_dataset("states", data=np.full((4, 45), 0.1 * k))
            demo.create_dataset("actions", data=np.full((4, 7), 0.2 * k))
        data.attrs["env"] = "Stack"
        data.attrs["env_info"] = "{}"
        data.attrs["repository_version"] = "1.5.2"
    back = dump(path)
    assert back["kind"] == "robomimic" and back["env"] == "Stack" and back["total"] is None
    assert [d["name"] for d in back["demos"]] == [f"demo_{k}" for k in [0, 1, 2, 10, 11]]
    last = back["demos"][-1]
    assert last["model_file"] == MODEL and last["steps"] == 4
    assert last["states"] == {"shape": [4, 45], "data": [0.1 * 11] * 180}
    assert last["actions"]["shape"] == [4, 7] and last["obs"] == {}


@pytest.mark.parametrize("cache", [None, "low_dim", "all"])
def test_robomimic_trains_from_our_file(tmp_path, monkeypatch, cache):
    # Its dataset needs torch only as a base class, and other packages only to be imported.
    for name in ["torch", "torch.nn", "torch.nn.functional", "torch.utils", "torch.utils.data"]:
        monkeypatch.setitem(sys.modules, name, MagicMock())
    monkeypatch.setitem(sys.modules, "termcolor", MagicMock())
    data = sys.modules["torch.utils.data"]
    data.Dataset = type("Dataset", (), {})
    sys.modules["torch"].utils.data = data
    sys.modules["torch"].Tensor = type("Tensor", (), {})
    for name in [name for name in sys.modules if name.startswith("robomimic")]:
        monkeypatch.delitem(sys.modules, name)
    import robomimic.utils.obs_utils as obs_utils
    from robomimic.utils.dataset import SequenceDataset

    path = tmp_path / "demo.hdf5"
    run("robomimic", path)
    numbers, images = ["robot0_eef_pos", "object"], ["agentview_image"]
    obs_utils.initialize_obs_utils_with_obs_specs([{"obs": {"low_dim": numbers, "rgb": images}}])
    dataset = SequenceDataset(
        str(path),
        obs_keys=numbers + images,
        dataset_keys=["actions", "rewards", "dones"],
        seq_length=10,
        hdf5_cache_mode=cache,
        filter_by_attribute="train",
    )
    assert dataset.n_demos == 3 and len(dataset) == 20 + 22 + 31
    # Step 5 of demo_2, which follows demo_0 and demo_11 in robomimic's order of names.
    starts = {demo: dataset._demo_id_to_start_indices[demo] for demo in dataset.demos}
    item = dataset[starts["demo_2"] + 5]
    expected = {
        "actions": ramp((22, 7), 0.002),
        "rewards": ramp(22, 0.5),
        "obs/object": ramp((22, 10), 0.2),
        "next_obs/object": ramp((22, 10), 0.7),
        "obs/agentview_image": pictures(22, 8, 8),
    }
    for path, values in expected.items():
        found = item
        for key in path.split("/"):
            found = found[key]
        # What it keeps in memory it keeps in single precision.
        assert (found == values[5:15].astype(found.dtype)).all(), path


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_we_read_lzf_and_leave_out_what_is_elsewhere(tmp_path, libver):
    path, other = tmp_path / "demo.h5", tmp_path / "other.h5"
    rng = np.random.default_rng(5)
    # Steps that repeat, so that LZF copies; noise, which it cannot pack.
    actions = np.repeat(rng.normal(size=(40, 7)), 25, axis=0)
    images = rng.integers(0, 255, (6, 24, 32, 3), np.uint8)
    images[2:4] = 7
    with h5py.File(other, "w") as f:
        f["far"] = np.arange(9.0)
    with h5py.File(path, "w", libver=libver) as f:
        f.create_dataset("actions", data=actions, compression="lzf", chunks=(100, 7))
        f.create_dataset("rewards", data=actions[:, 0], compression="lzf", shuffle=True)
        f.create_dataset("camera_images/agentview", data=images, compression="lzf")
        layout = h5py.VirtualLayout(shape=(9,), dtype="f8")
        layout[:] = h5py.VirtualSource(other, "far", shape=(9,))
        f.create_virtual_dataset("observables/far", layout)
        f.create_virtual_dataset("initial_state", layout)
    back = dump(path)
    assert back["actions"] == {"shape": [1000, 7], "data": actions.ravel().tolist()}
    assert back["rewards"] == actions[:, 0].tolist()
    expected = {"shape": [6, 24, 32, 3], "crc32": zlib.crc32(images.tobytes())}
    assert back["cameras"]["agentview"] == expected
    assert back["initial_state"] is None and back["observables"] == {}
    # A group with such a part cannot be listed: what is known by name is found.
    assert set(back["unread"]) == {"/", "/initial_state", "/observables"}
    assert all("virtual dataset" in why for why in back["unread"].values())


def test_h5py_writes_and_reads_so101_files(tmp_path):
    citrange = os.environ["CITRANGE_BIN"]
    path, out = tmp_path / "seed.hdf5", tmp_path / "set"
    steps = 20
    joints = (0.1 + 0.01 * np.arange(steps * 6).reshape(steps, 6) / 6).astype("f4")
    images = np.broadcast_to(np.arange(48, dtype="u1")[None, :, None, None] * 4, (steps, 48, 64, 3))
    with h5py.File(path, "w") as f:
        for k in range(2):
            demo = f.create_group(f"data/demo_{k}")
            demo.attrs["episode_id"] = k
            demo.attrs["success"] = True
            demo.attrs["frame_count"] = steps
            demo.attrs["duration"] = steps / 60
            demo.create_dataset("obs/joint_pos", data=joints, compression="gzip")
            demo.create_dataset("obs/actions", data=joints + np.float32(0.01))
            for camera in ["front", "wrist"]:
                demo.create_dataset(f"obs/{camera}", data=images, compression="lzf")

    def run_citrange(*args):
        done = subprocess.run([citrange, *map(str, args)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    lines = run_citrange("data", "import", path, "--out", out, "--json").splitlines()
    assert [json.loads(line)["frame_hz"] for line in lines] == [60, 60]
    run_citrange("data", "export", out, "--to", "so101-hdf5", "--out", tmp_path / "back.hdf5")
    with h5py.File(tmp_path / "back.hdf5") as f:
        assert f["data"].attrs["frame_hz"] == 60 and f["data"].attrs["total"] == 2 * steps
        for k in range(2):
            demo = f[f"data/demo_{k}"]
            assert demo.attrs["success"] and demo.attrs["frame_count"] == steps
            assert demo["obs/joint_pos"].dtype == np.float32
            assert np.array_equal(demo["obs/joint_pos"][()], joints)
            assert np.array_equal(demo["obs/actions"][()], joints + np.float32(0.01))
            for camera in ["front", "wrist"]:
                shown = demo[f"obs/{camera}"][()].astype(int)
                assert shown.shape == images.shape
                assert np.abs(shown - images).mean() < 4, "coded as video, the same picture"
