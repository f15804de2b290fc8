"""What people do today to make voxels of a camera frame: numpy, scikit-learn, Open3D, numba.

Every function is the best that we could write with that tool; `seed_*` is how the first system of
this kind did it. Points that were not seen are NaN.
"""

import numba
import numpy as np
import open3d as o3d
from scipy import ndimage
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors


class Cell:
    """A frame and the cell that it was taken in."""

    def __init__(self, xyz, rgb, side):
        self.xyz, self.rgb = xyz, rgb
        self.turn = np.array(side["T_cam_to_world"])[:3, :3]
        self.shift = np.array(side["T_cam_to_world"])[:3, 3]
        self.lower = np.array(side["workspace_lower"], float)
        self.upper = np.array(side["workspace_upper"], float)
        self.hand = np.array(side["ee_pos"], float)
        self.capsules = np.array(
            [[*p["a"], *p["b"], p["r"]] for p in side["primitives"] if p.get("label") == 3]
        ).reshape(-1, 7)


def inside(cell):
    """Points of the workspace in the world, f64, and their indices."""
    world = cell.xyz.astype(np.float64) @ cell.turn.T + cell.shift
    keep = np.flatnonzero(((world >= cell.lower) & (world < cell.upper)).all(1))
    return world[keep], keep


# --- the seed's way ---------------------------------------------------------------------------

OFFSETS = ((0.1, -0.1, 0.2), (0.0, 0.0, 0.15))


def seed_front(cell, radius=0.15):
    """Homogeneous transform, masks, two spheres around the hand."""
    seen = np.isfinite(cell.xyz).all(1)
    points = np.concatenate((cell.xyz[seen], np.ones((seen.sum(), 1))), axis=1)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = cell.turn, cell.shift
    world = np.dot(matrix, points.T).T[:, :3]
    colours = cell.rgb[seen] / 255.0
    keep = ((world >= cell.lower) & (world < cell.upper)).all(1)
    world, colours = world[keep], colours[keep]
    for offset in OFFSETS:
        keep = np.linalg.norm(world - (cell.hand + offset), axis=1) > radius
        world, colours = world[keep], colours[keep]
    return world, colours


def o3d_cloud(world, colours):
    cloud = o3d.geometry.PointCloud()
    cloud.points = o3d.utility.Vector3dVector(world)
    cloud.colors = o3d.utility.Vector3dVector(colours)
    return cloud


def o3d_voxels(cell, cloud, size):
    """Open3D's VoxelGrid, and its cells and colours as arrays."""
    grid = o3d.geometry.VoxelGrid.create_from_point_cloud_within_bounds(
        cloud, size, cell.lower, cell.upper
    )
    voxels = grid.get_voxels()
    return (
        np.array([v.grid_index for v in voxels]).reshape(-1, 3),
        np.array([v.color for v in voxels]).reshape(-1, 3),
    )


def o3d_voxel_grid(cell, cloud, size):
    """The same without arrays: what Open3D itself needs."""
    return o3d.geometry.VoxelGrid.create_from_point_cloud_within_bounds(
        cloud, size, cell.lower, cell.upper
    )


def far_from_robot(cell, centres, size, limit):
    """Voxels whose surface is at least `limit` from every capsule (centre to axis, less the
    voxel's half diagonal: a little stricter than box to capsule)."""
    keep = np.ones(len(centres), bool)
    for row in cell.capsules:
        a, b, radius = row[:3], row[3:6], row[6]
        along = b - a
        t = np.clip((centres - a) @ along / max(along @ along, 1e-12), 0, 1)
        gap = np.linalg.norm(centres - a - t[:, None] * along, axis=1)
        keep &= gap - radius - size * np.sqrt(3) / 2 >= limit
    return keep


# --- outliers ---------------------------------------------------------------------------------


def by_mean_distance(distances, ratio=2.0):
    mean = distances.mean(axis=1)
    return mean > mean.mean() + ratio * mean.std()


def sklearn_outliers(world, neighbours=20):
    found = NearestNeighbors(n_neighbors=neighbours).fit(world).kneighbors(world)[0]
    return by_mean_distance(found)


def kdtree_outliers(world, neighbours=20):
    return by_mean_distance(cKDTree(world).query(world, k=neighbours)[0])


def o3d_outliers(cloud, neighbours=20):
    kept = np.asarray(cloud.remove_statistical_outlier(neighbours, 2.0)[1])
    gone = np.ones(len(cloud.points), bool)
    gone[kept] = False
    return gone


# --- groups -----------------------------------------------------------------------------------

EDGES = ndimage.generate_binary_structure(3, 2)


def dense_clusters(cells, size, minimum=5):
    """Groups of voxels that touch at a face or an edge, on the whole grid."""
    grid = np.zeros(size, bool)
    grid[tuple(cells.T)] = True
    labels, _ = ndimage.label(grid, EDGES)
    mine = labels[tuple(cells.T)]
    return np.bincount(mine)[mine] >= minimum


# --- numba: transform, crop, spheres and voxels in one sweep ----------------------------------


@numba.njit(fastmath=False, cache=False)
def numba_sweep(xyz, rgb, turn, shift, lower, upper, inverse, size, spheres, sums):
    for i in range(xyz.shape[0]):
        x, y, z = xyz[i, 0], xyz[i, 1], xyz[i, 2]
        wx = turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z + shift[0]
        wy = turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z + shift[1]
        wz = turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z + shift[2]
        if not (lower[0] <= wx < upper[0] and lower[1] <= wy < upper[1]
                and lower[2] <= wz < upper[2]):
            continue
        hit = False
        for k in range(spheres.shape[0]):
            dx, dy, dz = wx - spheres[k, 0], wy - spheres[k, 1], wz - spheres[k, 2]
            if dx * dx + dy * dy + dz * dz <= spheres[k, 3]:
                hit = True
        if hit:
            continue
        cx = int((wx - lower[0]) * inverse)
        cy = int((wy - lower[1]) * inverse)
        cz = int((wz - lower[2]) * inverse)
        key = (cz * size[1] + cy) * size[0] + cx
        sums[key, 0] += 1
        sums[key, 1] += rgb[i, 0]
        sums[key, 2] += rgb[i, 1]
        sums[key, 3] += rgb[i, 2]


class Numba:
    """Keeps its grid from frame to frame, as a fast program would."""

    def __init__(self, cell, voxel):
        self.size = np.ceil((cell.upper - cell.lower) / voxel - 1e-9).astype(np.int64)
        self.inverse = np.float32(1 / voxel)
        self.sums = np.zeros((int(np.prod(self.size)), 4), np.uint32)

    def front(self, cell, radius=0.15):
        self.sums[:] = 0
        spheres = np.array([[*(cell.hand + o), radius**2] for o in OFFSETS], np.float32)
        numba_sweep(
            cell.xyz, cell.rgb, cell.turn.astype(np.float32), cell.shift.astype(np.float32),
            cell.lower.astype(np.float32), cell.upper.astype(np.float32), self.inverse,
            self.size, spheres, self.sums,
        )
        keys = np.flatnonzero(self.sums[:, 0])
        found = self.sums[keys]
        return keys, found[:, 1:] / found[:, :1]

    def whole(self, cell, minimum=5):
        keys, colours = self.front(cell)
        cells = np.stack(np.unravel_index(keys, self.size[::-1])[::-1], axis=1)
        keep = dense_clusters(cells, tuple(self.size), minimum)
        return cells[keep], colours[keep]
