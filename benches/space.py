"""Clouds to voxels: ours beside Open3D, scikit-learn, scipy, numba and the seed's way.

    benches/run.sh space [--clouds FOLDER] [--rounds 5]
    python3 benches/space.py --report

Frames are `*.npz` with a JSON file beside each (see docs/space.md); without --clouds, six are made
with the simulated depth camera. Every round runs every side once, in an order that turns round;
each side does its work `times` times and gives its median. All sides get the same frame. Results
are compared: same voxels and colours as Open3D, same outliers as Open3D and scikit-learn.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
RESULT = HERE / "results" / "space.json"
BEGIN, END = "<!-- space: begin -->", "<!-- space: end -->"
SIZES = (0.05, 0.02)


class Ours:
    """Our side in a process of its own that keeps its memory, as a program would."""

    def __init__(self, cores):
        self.child = subprocess.Popen(
            [TARGET / "citrange-bench", "space"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )

    def ask(self, **request):
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            sys.exit(f"ours ended at {request}")
        return json.loads(line)


def timed(work, times):
    """Median wall seconds of a call, and what the last one gave."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - began)
    return median(seconds), result


def in_turns(rounds, sides):
    """Each side once per round, order reversed every other round: a list of seconds per side."""
    seconds = {name: [] for name in sides}
    results = {}
    for index in range(rounds):
        names = list(sides) if index % 2 == 0 else list(reversed(sides))
        for name in names:
            one, results[name] = sides[name]()
            seconds[name].append(one)
    return seconds, results


def bench_frame(peer, np, ours, path, rounds, cores):
    loaded = np.load(path)
    side = json.loads(path.with_suffix(".json").read_text())
    cell = peer.Cell(loaded["xyz"].reshape(-1, 3), loaded["rgb"].reshape(-1, 3), side)
    world, _ = peer.inside(cell)
    threads = len(cores)
    out = {"points": len(cell.xyz), "inside": len(world), "stages": {}}
    front_world, front_colours = peer.seed_front(cell)
    cloud = peer.o3d_cloud(front_world, front_colours)
    whole_cloud = peer.o3d_cloud(world, cell.rgb[peer.inside(cell)[1]] / 255.0)

    def mine(stage, times, **more):
        def call():
            answer = ours.ask(frame=str(path), stage=stage, times=times, threads=threads, **more)
            return median(answer["secs"]), answer
        return call

    for size in SIZES:
        label = f"{100 * size:g} cm"
        numba = peer.Numba(cell, size)
        numba.whole(cell)  # compiles
        sides = {
            "ours": mine("front", 40, voxel_m=size),
            "numba": lambda: timed(lambda: numba.front(cell), 10),
            "seed + Open3D": lambda: timed(
                lambda: peer.o3d_voxels(cell, peer.o3d_cloud(*peer.seed_front(cell)), size), 1),
            "Open3D VoxelGrid alone": lambda: timed(
                lambda: peer.o3d_voxel_grid(cell, cloud, size), 5),
        }
        seconds, results = in_turns(rounds, sides)
        check_voxels(np, results["ours"], results["seed + Open3D"], size)
        out["stages"][f"transform, crop, spheres, voxels, {label}"] = seconds
        sides = {
            "ours": mine("whole", 40, voxel_m=size),
            "ours, from a PointCloud2 message": mine("message", 40, voxel_m=size),
            "numba + scipy": lambda: timed(lambda: numba.whole(cell), 10),
        }
        seconds, results = in_turns(rounds, sides)
        if len(results["ours"]["cells"]) != len(results["numba + scipy"][0]):
            print(f"  note: numba in f32 finds {len(results['numba + scipy'][0])} voxels, "
                  f"ours {len(results['ours']['cells'])}", file=sys.stderr)
        out["stages"][f"the same and groups, {label}"] = seconds
        cells = np.array(results["ours"]["cells"])
        extent = tuple(np.ceil((cell.upper - cell.lower) / size - 1e-9).astype(int))
        seconds, _ = in_turns(rounds, {
            "ours": mine("clusters", 40, voxel_m=size),
            "scipy.ndimage.label": lambda: timed(
                lambda: peer.dense_clusters(cells, extent), 5),
        })
        out["stages"][f"groups alone, {label}"] = seconds
        seconds, _ = in_turns(rounds, {
            "ours": mine("self", 40, voxel_m=size),
            "ours with support": mine("support", 40, voxel_m=size),
        })
        out["stages"][f"with the self filter instead of spheres, {label}"] = seconds
        bare = ours.ask(frame=str(path), stage="bare", times=1, threads=threads, voxel_m=size)
        centres = cell.lower + (np.array(bare["cells"]) + 0.5) * size
        seconds, _ = in_turns(rounds, {
            "ours": mine("near", 10, voxel_m=size),
            "numpy": lambda: timed(lambda: peer.far_from_robot(cell, centres, size, 0.15), 5),
        })
        out["stages"][f"voxels within 15 cm of the robot, {label}"] = seconds
        seconds, _ = in_turns(rounds, {"ours": mine("map", 20, voxel_m=size)})
        out["stages"][f"map: carving, counts, distance field, {label}"] = seconds

    sides = {
        "ours, exact": mine("outliers_exact", 5),
        "ours, fast": mine("outliers_fast", 5),
        "Open3D": lambda: timed(lambda: peer.o3d_outliers(whole_cloud), 1),
        "scipy cKDTree": lambda: timed(lambda: peer.kdtree_outliers(world), 1),
        "scikit-learn": lambda: timed(lambda: peer.sklearn_outliers(world), 1),
    }
    seconds, results = in_turns(max(1, rounds // 2), sides)
    out["stages"]["statistical outliers, k 20, 2.0 std"] = seconds
    mask = np.zeros(len(cell.xyz), bool)
    index = peer.inside(cell)[1]
    answers = {}
    for name in ("ours, exact", "ours, fast"):
        mask[:] = False
        mask[results[name]["outliers"]] = True
        answers[name] = mask[index].copy()
    out["outliers"] = {"ours": int(answers["ours, exact"].sum())}
    for name in ("Open3D", "scikit-learn", "scipy cKDTree"):
        out["outliers"][f"exact differs from {name}"] = int(
            (answers["ours, exact"] != results[name]).sum())
    out["outliers"]["fast differs from exact"] = int(
        (answers["ours, fast"] != answers["ours, exact"]).sum())
    return out


def ghosts(np, peer, ours, path):
    """By the labels in the file: ghost voxels (flying pixels only) left, real voxels lost, %."""
    loaded = np.load(path)
    if "label" not in loaded:
        return {}
    cell = peer.Cell(loaded["xyz"].reshape(-1, 3), loaded["rgb"].reshape(-1, 3),
                     json.loads(path.with_suffix(".json").read_text()))
    world, index = peer.inside(cell)
    flies = loaded["label"].reshape(-1)[index] == 254
    out = {}
    for size in (0.1, 0.05, 0.02):
        cells = np.floor((world - cell.lower) / size).astype(int)
        found, at = np.unique(cells, axis=0, return_inverse=True)
        real = np.bincount(at.reshape(-1), weights=~flies) > 0
        for stage in ("support_alone", "outliers_exact", "min_points"):
            kept = ours.ask(frame=str(path), stage=stage, times=1, threads=1, voxel_m=size)
            kept = set(map(tuple, kept["cells"]))
            left = np.array([tuple(c) in kept for c in found.tolist()])
            out[f"{100 * size:g} cm {stage}"] = [
                int((left & ~real).sum()), int((~real).sum()),
                int((~left & real).sum()), int(real.sum()),
            ]
    return out


def check_voxels(np, mine, theirs, size):
    """Same cells, colours within 1/255."""
    cells, colours = theirs
    want = dict(zip(map(tuple, cells.tolist()), (255 * colours).tolist()))
    have = dict(zip(map(tuple, mine["cells"]), mine["rgb"]))
    if want.keys() != have.keys():
        sys.exit(f"{size} m: {len(want.keys() ^ have.keys())} voxels differ from Open3D's")
    worst = max((abs(a - b) for k in want for a, b in zip(want[k], have[k])), default=0)
    if worst > 1:
        sys.exit(f"{size} m: a colour differs by {worst:.2f}/255 from Open3D's")


def measure(args):
    cores = set(range(args.cores))
    os.sched_setaffinity(0, cores)
    os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(args.cores)
    sys.path.insert(0, str(HERE))
    import numpy as np
    import space_peer as peer

    ours = Ours(cores)
    frames = {}
    for path in sorted(Path(args.clouds).glob("*.npz")):
        print(f"{path.name}, {args.cores} core(s)", file=sys.stderr)
        frames[path.stem] = bench_frame(peer, np, ours, path, args.rounds, cores)
        if args.cores == 1:
            frames[path.stem]["ghosts"] = ghosts(np, peer, ours, path)
    queries = ours.ask(stage="queries", times=20, threads=args.cores)
    print(json.dumps({"frames": frames, "queries": queries}))


# --- tables -----------------------------------------------------------------------------------


def milliseconds(seconds):
    return 1e3 * median(seconds)


def table(result):
    lines = [f"{result['machine']}; medians over {result['rounds']} rounds, wall ms per frame.", ""]
    for cores, report in result["cores"].items():
        frames = report["frames"]
        lines += [f"**{cores} core{'s' if cores != '1' else ''}**", ""]
        heads = " | ".join(
            f"{name} ({frame['inside'] // 1000}k inside)" for name, frame in frames.items())
        lines += [f"| stage | side | {heads} | ratio to ours |", "| --- | --- |" + " --: |" * (len(frames) + 1)]
        first = next(iter(frames.values()))
        for stage, sides in first["stages"].items():
            for side in sides:
                own = next(iter(sides))
                cells = [milliseconds(f["stages"][stage][side]) for f in frames.values()]
                ratio = median(
                    median(t / o for t, o in zip(f["stages"][stage][side], f["stages"][stage][own]))
                    for f in frames.values())
                shown = " | ".join(f"{c:.2f}" for c in cells)
                lines.append(f"| {stage} | {side} | {shown} | {ratio:.1f} |")
        lines.append("")
        for name, frame in frames.items():
            told = ", ".join(f"{k} {v}" for k, v in frame["outliers"].items())
            lines.append(f"- {name}: outliers: {told}")
        lines.append("")
        lines += [f"- {k}: {v}" for k, v in report["queries"].items() if isinstance(v, str)]
        lines.append("")
    lines += ghost_table(result["cores"]["1"]["frames"])
    return "\n".join(lines)


def ghost_table(frames):
    """All frames together."""
    names = {"support_alone": "ours, support", "outliers_exact": "statistical, k 20, 2.0 std",
             "min_points": "at least 3 points per voxel"}
    lines = ["| stage | size | ghost voxels left | real voxels lost |", "| --- | --- | --: | --: |"]
    for key in next(iter(frames.values())).get("ghosts", {}):
        size, stage = key.rsplit(" ", 1)
        left, all_ghosts, lost, all_real = map(sum, zip(*(f["ghosts"][key] for f in frames.values())))
        lines.append(f"| {names[stage]} | {size} | {100 * left / all_ghosts:.1f} % of {all_ghosts} "
                     f"| {100 * lost / all_real:.2f} % of {all_real} |")
    return lines


def write_report():
    text = (HERE / "README.md").read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    body = table(json.loads(RESULT.read_text()))
    (HERE / "README.md").write_text(f"{before}{BEGIN}\n{body}\n{END}{after}")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--clouds", default=os.environ.get("CITRANGE_CLOUDS"))
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--cores", type=int)
    words.add_argument("--report", action="store_true")
    args = words.parse_args()
    if args.report:
        return write_report()
    if args.cores:
        return measure(args)
    with tempfile.TemporaryDirectory() as made:
        if not args.clouds:
            args.clouds = made
            subprocess.run([TARGET / "citrange", "space", "simulate", "ur5_cell", "--camera",
                            "depth", "--frames", "3", "--each-episode", "-o", made], check=True)
        python = subprocess.run([ROOT / "scripts" / "space_venv.sh"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout.strip() + "/bin/python"
        model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                      if line.startswith("model name")), "unknown processor")
        result = {"machine": model, "rounds": args.rounds, "cores": {}}
        for cores in (1, 2):
            done = subprocess.run(
                [python, __file__, "--clouds", args.clouds, "--rounds", str(args.rounds),
                 "--cores", str(cores)],
                stdout=subprocess.PIPE, text=True, check=True,
                env={**os.environ, "OMP_NUM_THREADS": str(cores), "NUMBA_NUM_THREADS": str(cores)},
            )
            result["cores"][str(cores)] = json.loads(done.stdout)
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    write_report()


if __name__ == "__main__":
    main()
