"""Our voxels and outliers beside Open3D's and scikit-learn's, and each other's files."""

import json
import os
import subprocess

import numpy as np
import open3d as o3d
import pytest
from sklearn.neighbors import NearestNeighbors

CITRANGE = os.environ["CITRANGE_BIN"]
FRAMES = 3


def citrange(*words):
    done = subprocess.run(
        [CITRANGE, "space", *map(str, words)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def clouds(tmp_path_factory):
    """Frames of a simulated cell, with a sensor's noise."""
    folder = tmp_path_factory.mktemp("clouds")
    citrange("simulate", "ur5_cell", "--camera", "depth", "--frames", FRAMES, "--each-episode",
             "-o", folder)
    return folder


def frame(folder, index):
    path = folder / f"frame_{index:03}.npz"
    side = json.loads(path.with_suffix(".json").read_text())
    loaded = np.load(path)
    matrix = np.array(side["T_cam_to_world"])
    world = loaded["xyz"].reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    lower, upper = np.array(side["workspace_lower"]), np.array(side["workspace_upper"])
    inside = ((world >= lower) & (world < upper)).all(1)
    cloud = o3d.geometry.PointCloud()
    cloud.points = o3d.utility.Vector3dVector(world[inside])
    cloud.colors = o3d.utility.Vector3dVector(loaded["rgb"].reshape(-1, 3)[inside] / 255.0)
    return path, cloud, inside, lower, upper


def config(folder, **pipeline):
    """A cell in which only the named stages run. JSON is YAML."""
    off = {"self_filter": None, "support": None, "clusters": None, "num_voxels": 1_000_000}
    path = folder / "cell.yaml"
    path.write_text(json.dumps({"pipeline": {**off, **pipeline}}))
    return path


def compare_with_voxel_grid(saved, cloud, lower, upper, size):
    grid = o3d.geometry.VoxelGrid.create_from_point_cloud_within_bounds(cloud, size, lower, upper)
    want = {tuple(v.grid_index): 255 * v.color for v in grid.get_voxels()}
    cells = [tuple(c) for c in saved["cell"].tolist()]
    assert len(cells) > 300 and len(set(cells)) == len(cells)
    assert set(cells) == want.keys()
    worst = max(np.abs(want[c] - rgb).max() for c, rgb in zip(cells, saved["rgb"].astype(float)))
    assert worst <= 1.0
    centres = np.array([grid.get_voxel_center_coordinate(np.array(c)) for c in cells])
    assert np.abs(centres - saved["centre_m"]).max() < 1e-9


@pytest.mark.parametrize("size", [0.1, 0.05, 0.02])
@pytest.mark.parametrize("index", range(FRAMES))
def test_same_voxels_as_open3d(clouds, tmp_path, index, size):
    path, cloud, _, lower, upper = frame(clouds, index)
    citrange("run", path, "--config", config(tmp_path, voxel_size_m=size), "--save", tmp_path)
    saved = np.load(tmp_path / f"{path.stem}.voxels.npz")
    compare_with_voxel_grid(saved, cloud, lower, upper, size)


@pytest.mark.parametrize("index", range(FRAMES))
def test_same_outliers_as_open3d_and_scikit_learn(clouds, tmp_path, index):
    path, cloud, inside, lower, upper = frame(clouds, index)
    setting = config(tmp_path, outliers={"mode": "exact"})
    citrange("run", path, "--config", setting, "--save", tmp_path)
    saved = np.load(tmp_path / f"{path.stem}.fates.npz")
    names = json.loads((tmp_path / f"{path.stem}.json").read_text())["fates"]
    gone = (saved["fate"] == names.index("outlier"))[inside]
    kept, index = cloud.remove_statistical_outlier(20, 2.0)
    theirs = np.ones(inside.sum(), bool)
    theirs[np.asarray(index)] = False
    assert 100 < theirs.sum() < 0.2 * len(theirs)
    assert (gone != theirs).sum() == 0
    points = np.asarray(cloud.points)
    mean = NearestNeighbors(n_neighbors=20).fit(points).kneighbors(points)[0].mean(axis=1)
    assert (gone != (mean > mean.mean() + 2 * mean.std())).sum() == 0
    # And the voxels of what is left.
    saved = np.load(tmp_path / f"{path.stem}.voxels.npz")
    compare_with_voxel_grid(saved, kept, lower, upper, 0.05)


@pytest.mark.parametrize("kind", ["ply", "ascii.ply", "pcd", "ascii.pcd", "compressed.pcd"])
def test_reads_what_open3d_writes(clouds, tmp_path, kind):
    """Points in the world; so the camera of the cell stands at its origin."""
    path, cloud, _, lower, upper = frame(clouds, 0)
    written = tmp_path / f"cloud.{kind}"
    options = {"write_ascii": "ascii" in kind, "compressed": "compressed" in kind}
    assert o3d.io.write_point_cloud(str(written), cloud, **options)
    # What these formats keep of the coordinates is what the voxels must be made of.
    again = o3d.io.read_point_cloud(str(written))
    setting = json.loads(config(tmp_path).read_text())
    setting["cameras"] = {"origin": {"xyz_m": [0, 0, 0], "rpy_deg": [0, 0, 0]}}
    setting["pipeline"]["workspace"] = {"lower_m": lower.tolist(), "upper_m": upper.tolist()}
    (tmp_path / "cell.yaml").write_text(json.dumps(setting))
    citrange("run", written, "--config", tmp_path / "cell.yaml", "--save", tmp_path)
    saved = np.load(tmp_path / f"{written.stem}.voxels.npz")
    points = np.asarray(again.points).astype(np.float32).astype(np.float64)
    inside = ((points >= lower) & (points < upper)).all(1)
    rounded = o3d.geometry.PointCloud()
    rounded.points = o3d.utility.Vector3dVector(points[inside])
    rounded.colors = o3d.utility.Vector3dVector(np.asarray(again.colors)[inside])
    compare_with_voxel_grid(saved, rounded, lower, upper, 0.05)


def test_open3d_reads_what_we_write(clouds, tmp_path):
    path, cloud, _, _, _ = frame(clouds, 1)
    citrange("run", path, "--config", config(tmp_path), "--save", tmp_path)
    voxels = o3d.io.read_point_cloud(str(tmp_path / f"{path.stem}.voxels.ply"))
    saved = np.load(tmp_path / f"{path.stem}.voxels.npz")
    assert np.abs(np.asarray(voxels.points) - saved["centre_m"]).max() < 1e-6
    assert np.abs(255 * np.asarray(voxels.colors) - saved["rgb"]).max() < 0.51
