"""The peers of the benchmarks: what Python code at its best does with the same work.

Each subcommand reads a folder that `citrange-bench` wrote, checks that it arrives at the same
numbers, and prints one JSON object with raw samples.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import batch as mujoco_batch
from mujoco import rollout as mujoco_rollout

FULLPHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS
INTEGRATION = mujoco.mjtState.mjSTATE_INTEGRATION


class Samples:
    """Wall time and CPU time of all threads of this process, in seconds."""

    def __init__(self):
        self.wall, self.cpu = [], []

    def time(self, work):
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)
        return result

    def json(self):
        return {"wall_secs": self.wall, "cpu_secs": self.cpu}


def load(folder):
    folder = Path(folder)
    model = mujoco.MjModel.from_binary_path(str(folder / "model.mjb"))
    meta = folder / "meta.json"
    return folder, model, json.loads(meta.read_text()) if meta.exists() else {}


def same_bits(what, ours, theirs):
    if ours.tobytes() != theirs.tobytes():
        raise SystemExit(f"{what}: not the same bits")


# --- stepping ---------------------------------------------------------------------------------


def step(args):
    folder, model, meta = load(args.dir)
    envs, steps, nu = meta["envs"], meta["steps"], meta["actuators"]
    start = np.fromfile(folder / "start.f64").reshape(envs, -1)
    commands = np.fromfile(folder / "commands.f64").reshape(envs, steps, nu)
    expected = np.fromfile(folder / "final_qpos.f64").reshape(envs, model.nq)
    warmstart = np.zeros((envs, model.nv))
    datas = [mujoco.MjData(model) for _ in range(args.threads)]
    models = [model] * envs
    state = np.empty((envs, steps, start.shape[1]))
    # One thread: no pool, the calling thread works. The pool lives as long as the process.
    pool = mujoco_rollout.Rollout(nthread=args.threads if args.threads > 1 else 0)
    # Its own default: small chunks for an even load.
    chunk = max(1, envs // (args.threads * 10))

    def run(record):
        pool.rollout(
            models, datas, start, commands, skip_checks=True, nstep=steps,
            initial_warmstart=warmstart, state=state if record else None, chunk_size=chunk,
        )

    batch = mujoco_batch.Batch(model, envs, nthread=args.threads, persistent=True)
    nstate = start.shape[1]

    def begin_batch():
        batch.reset()
        batch.state[:, :nstate] = start

    def run_batch():
        batch.rollout(steps, commands, record=())

    def run_batch_calls():
        for index in range(steps):
            batch.ctrl = commands[:, index]
            batch.step(stage=mujoco.mjtStage.mjSTAGE_VEL)

    def joints():
        return np.ascontiguousarray(batch.bind("qpos"))

    run(record=True)
    same_bits("rollout", expected, np.ascontiguousarray(state[:, -1, 1 : 1 + model.nq]))
    for way in (run_batch, run_batch_calls):
        begin_batch()
        way()
        same_bits("batch", expected, joints())
    names = ("rollout", "rollout_recording", "batch", "batch_calls")
    all_samples = {name: Samples() for name in names}
    for _ in range(args.rounds):
        all_samples["rollout"].time(lambda: run(record=False))
        all_samples["rollout_recording"].time(lambda: run(record=True))
        begin_batch()
        all_samples["batch"].time(run_batch)
        begin_batch()
        all_samples["batch_calls"].time(run_batch_calls)
    same_bits("rollout", expected, np.ascontiguousarray(state[:, -1, 1 : 1 + model.nq]))
    same_bits("batch", expected, joints())
    return {name: samples.json() for name, samples in all_samples.items()}


# --- reading state ----------------------------------------------------------------------------


class Gathered:
    """Bulk reading of one MjData per environment: views made once, one copy per field."""

    FIELDS = ("qpos", "qvel", "ctrl", "qfrc_applied", "xpos", "xquat", "cvel", "subtree_com")

    def __init__(self, model, datas):
        self.views = {f: [getattr(d, f) for d in datas] for f in self.FIELDS}
        self.flat = {}
        self.arrays = {}
        for field, views in self.views.items():
            shape = views[0].shape
            self.flat[field] = np.empty((len(views) * shape[0], *shape[1:]))
            self.arrays[field] = self.flat[field].reshape(len(views), *shape)

    def __call__(self):
        for field, views in self.views.items():
            np.concatenate(views, out=self.flat[field])
        return self.arrays


class TensorReader:
    """The fields of our TensorState from arrays with one row per environment."""

    def __init__(self, model, meta):
        self.objects = []
        self.robots = []
        root_of = model.body_rootid
        names = [model.body(i).name for i in range(model.nbody)]
        for name in meta["objects"]:
            joint = model.joint(name)
            self.objects.append((name, int(joint.qposadr[0]), int(joint.dofadr[0])))
        for name in meta["robots"]:
            bodies = [i for i, body in enumerate(names) if body.startswith(f"{name}/")]
            bodies = slice(bodies[0], bodies[-1] + 1)
            joints = [j for j in range(model.njnt) if model.joint(j).name.startswith(f"{name}/")]
            roots = np.unique(root_of[bodies])
            assert len(roots) == 1, "one tree per robot"
            qpos = as_slice([int(model.jnt_qposadr[j]) for j in joints])
            dofs = as_slice([int(model.jnt_dofadr[j]) for j in joints])
            servo = {int(model.actuator_trnid[a, 0]): a for a in range(model.nu)}
            ctrl = as_slice([servo[j] for j in joints])
            self.robots.append((name, bodies, int(roots[0]), qpos, dofs, ctrl))

    def __call__(self, a):
        out = {}
        for name, q, v in self.objects:
            root = np.empty((len(a["qpos"]), 13))
            root[:, :7] = a["qpos"][:, q : q + 7]
            root[:, 7:10] = a["qvel"][:, v : v + 3]
            rotate(a["qpos"][:, q + 3 : q + 7], a["qvel"][:, v + 3 : v + 6], root[:, 10:13])
            out[f"{name}.root_state"] = root
        for name, bodies, tree, qpos, dofs, ctrl in self.robots:
            pos, spatial = a["xpos"][:, bodies], a["cvel"][:, bodies]
            arm = pos - a["subtree_com"][:, tree : tree + 1]
            body = np.empty((*pos.shape[:2], 13))
            body[..., :3] = pos
            body[..., 3:7] = a["xquat"][:, bodies]
            cross(spatial[..., :3], arm, body[..., 7:10])
            body[..., 7:10] += spatial[..., 3:]
            body[..., 10:13] = spatial[..., :3]
            out[f"{name}.body_state"] = body
            out[f"{name}.root_state"] = body[:, 0].copy()
            out[f"{name}.joint_pos"] = a["qpos"][:, qpos].copy()
            out[f"{name}.joint_vel"] = a["qvel"][:, dofs].copy()
            out[f"{name}.joint_pos_target"] = a["ctrl"][:, ctrl].copy()
            out[f"{name}.joint_effort_target"] = a["qfrc_applied"][:, dofs].copy()
        return out


def as_slice(indices):
    """A slice when the indices are in a row: numpy reads it much faster."""
    span = slice(indices[0], indices[-1] + 1)
    return span if list(range(indices[0], indices[-1] + 1)) == indices else indices


def cross(a, b, out):
    """Faster than numpy.cross for many short vectors."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    out[..., 0] = ay * bz - az * by
    out[..., 1] = az * bx - ax * bz
    out[..., 2] = ax * by - ay * bx


def rotate(quat, vec, out):
    """Rotates vectors by unit quaternions (w, x, y, z): v + 2 q x (q x v + w v)."""
    axis = quat[:, 1:]
    inner, turned = np.empty_like(vec), np.empty_like(vec)
    cross(axis, vec, inner)
    inner += quat[:, :1] * vec
    cross(axis, inner, turned)
    np.add(vec, 2.0 * turned, out=out)


def state(args):
    folder, model, meta = load(args.dir)
    envs = meta["envs"]
    states = np.fromfile(folder / "states.f64").reshape(envs, -1)
    datas = [mujoco.MjData(model) for _ in range(envs)]
    for data, row in zip(datas, states):
        mujoco.mj_setState(model, data, row, INTEGRATION)
        mujoco.mj_step1(model, data)
    gather, read = Gathered(model, datas), TensorReader(model, meta)
    batch = mujoco_batch.Batch(model, envs, nthread=args.threads, persistent=True)
    bound = {field: batch.bind(field) for field in Gathered.FIELDS}
    batch.state[:] = states
    batch.forward(stage=mujoco.mjtStage.mjSTAGE_VEL)
    for arrays in (gather(), bound):
        tensors = read(arrays)
        missing = set(meta["arrays"]) ^ set(tensors)
        if missing:
            raise SystemExit(f"not the same fields: {missing}")
        for name, array in tensors.items():
            ours = np.fromfile(folder / f"{name}.f64").reshape(array.shape)
            error = np.abs(ours - array).max()
            if not error < 1e-12:
                raise SystemExit(f"{name}: differs by {error}")

    numpy_samples, batch_samples, batch_step = Samples(), Samples(), Samples()
    for _ in range(args.rounds):
        # Both sides read what a step has just written.
        for data in datas:
            mujoco.mj_step2(model, data)
            mujoco.mj_step1(model, data)
        numpy_samples.time(lambda: read(gather()))
        batch_step.time(lambda: batch.step(stage=mujoco.mjtStage.mjSTAGE_VEL))
        batch_samples.time(lambda: read(bound))
    return {
        "numpy": numpy_samples.json(),
        "batch_read": batch_samples.json(),
        "batch_step": batch_step.json(),
    }


# --- pictures ---------------------------------------------------------------------------------

# (name, shadows, samples per pixel): MuJoCo's defaults; without shadows; and its fastest.
WAYS = (("shadows", True, None), ("smooth", False, None), ("plain", False, 0))


def camera(args):
    views = {}
    for folder in sorted(p for p in Path(args.dir).iterdir() if p.is_dir()):
        folder, model, meta = load(folder)
        data = mujoco.MjData(model)
        # The same range of depths: neither side draws what the other does not. MuJoCo ends an
        # endless floor a little before the far plane, so that plane is moved out.
        model.vis.map.znear = meta["near_m"] / model.stat.extent
        model.vis.map.zfar = 1.5 * meta["far_m"] / model.stat.extent
        mujoco.mj_setState(model, data, np.fromfile(folder / "states.f64"), INTEGRATION)
        mujoco.mj_step1(model, data)
        views[folder.name] = view(folder, meta, model, data, args)
    return {"gl": os.environ.get("MUJOCO_GL"), "views": views}


def view(folder, meta, model, data, args):
    option = mujoco.MjvOption()
    option.sitegroup[:] = 0  # ours draws no sites either
    name = meta["camera"]
    samples_per_pixel = model.vis.quality.offsamples
    report = {}
    for way, shadows, offsamples in WAYS:
        if args.ways and way not in args.ways.split(","):
            continue
        model.vis.quality.offsamples = samples_per_pixel if offsamples is None else offsamples
        with mujoco.Renderer(model, 480, 640) as renderer:
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = shadows
            renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
            samples = Samples()

            def frame():
                renderer.update_scene(data, name, option)
                renderer.disable_segmentation_rendering()
                rgb = renderer.render()
                renderer.enable_depth_rendering()
                depth = renderer.render()
                renderer.disable_depth_rendering()
                renderer.enable_segmentation_rendering()
                return rgb, depth, renderer.render()

            rgb, depth, seg = frame()
            for _ in range(args.rounds):
                samples.time(frame)
            report[way] = samples.json()
        if args.check:
            if way == "plain":
                report["agreement"] = agreement(folder, meta, depth, seg)
            if args.pictures:
                write_pictures(Path(args.pictures), folder, way, rgb)
    return report


def agreement(folder, meta, depth, seg):
    """How far our frame is from this one."""
    ids = np.fromfile(folder / "ids.i32", np.int32).reshape(480, 640)
    ours = np.fromfile(folder / "depth.f32", np.float32).reshape(480, 640)
    geoms = np.where(seg[..., 1] == int(mujoco.mjtObj.mjOBJ_GEOM), seg[..., 0], -1)
    geoms[depth > meta["far_m"]] = -1
    equal = ids == geoms
    hit = equal & (ids >= 0)
    return {
        "ids_equal": float(equal.mean()),
        "depth_difference_m": statistics.median(np.abs(ours - depth)[hit].tolist()),
    }


def write_pictures(out, folder, way, rgb):
    """Ours left, MuJoCo's right, as PPM."""
    out.mkdir(parents=True, exist_ok=True)
    ours = np.fromfile(folder / "rgb.u8", np.uint8).reshape(480, 640, 3)
    both = np.concatenate([ours, rgb], axis=1)
    with open(out / f"{folder.name}.{way}.ppm", "wb") as file:
        file.write(b"P6 1280 480 255\n" + both.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", choices=("step", "state", "camera"))
    parser.add_argument("--dir", required=True, help="what citrange-bench wrote")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="compare pictures with ours")
    parser.add_argument("--pictures", help="folder for pictures side by side")
    parser.add_argument("--ways", help="only these ways to draw")
    args = parser.parse_args()
    report = {"step": step, "state": state, "camera": camera}[args.benchmark](args)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
