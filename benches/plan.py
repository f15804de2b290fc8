"""Paths for an arm: ours beside OMPL's RRT-Connect in C++ and in Python, all judged by coal.

    benches/run.sh plan [--problems FILE] [--rounds 3] [--judged 1]
    python3 benches/plan.py --report

Every round has a seed and asks every side for all problems once, in an order that turns round.
Times are of a process that takes all problems one after the other, planner and its memory made
anew for each; making the robot's model and the grid of voxels is not counted, on any side. A
problem that is not solved counts with the time it took to give up. Paths of the first `--judged`
rounds, raw and simplified, of all sides, are looked at every milliradian by
`peers/plan_check.py`, which shares no code with any of them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
RESULT = HERE / "results" / "plan.json"
BODY = HERE / "plan" / "ur5_robotiq.json"
BEGIN, END = "<!-- plan: begin -->", "<!-- plan: end -->"
TIMEOUT_S = 10
REPEATS = 15
OURS, AGAIN = "ours", f"ours, median of {REPEATS} equal runs"
BETTER = "ours, improved with the usual budget"
CPP, PYTHON = "OMPL 1.5.2, C++ checker", "OMPL 2.0.1 in Python, numba checker"

# On 100 problems, of which ours are 51, on another machine: neighbours, not a race.
ELSEWHERE = """
| planner | obstacles | solved | median | 95th | rad raw / simplified | free at 2 mrad |
| --- | --- | --- | --: | --: | --- | --- |
| VAMP RRT-Connect | primitives | 100/100 | 85 µs (342 with simplify) | 1.7 ms | 9.95 / 6.48 | 92 % |
| VAMP, voxels as spheres | voxels | 44/44 | 313 µs (1.3 ms) | 3.6 ms | 9.65 / 6.27 | 91 % |
| VAMP, voxels as cuboids | voxels | 45/47 | 101 ms | 673 ms | 10.06 / 6.36 | 87 % |
| OMPL, C++ scalar checker | primitives | 300/300 | 2.75 ms | 221 ms | | |
| OMPL, Python checker | primitives | 100/100 | 3.3 ms | 311 ms | 10.83 / 6.64 | |
| BiRRT in pybullet | primitives | 95/100 | 416 ms | 3.3 s | 7.66 | |
"""


def lines_of(words, **more):
    """What a side answers: one JSON object per line."""
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, **more)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row for row in rows if "summary" not in row]


def build_peer():
    """OMPL's side in C++, or None where Debian's packages cannot be had."""
    binary = TARGET / "plan_ompl"
    source = HERE / "plan_ompl.cpp"
    if binary.exists() and binary.stat().st_mtime > source.stat().st_mtime:
        return binary
    try:
        subprocess.run([ROOT / "scripts" / "apt.sh", "g++", "libompl-dev"], check=True)
        subprocess.run(
            ["g++", "-std=c++17", "-O3", "-march=native", "-isystem", "/usr/include/eigen3",
             "-isystem", "/usr/include/ompl-1.5", source, "-o", binary, "-lompl"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"without OMPL in C++: {error}", file=sys.stderr)
        return None
    return binary


def sides(peer, problems_file, text, kind, cpp):
    """Each side as a function of the seed."""
    def ours(seed, repeats, *more):
        return lines_of(
            [TARGET / "citrange", "plan", "bench", problems_file, "--body", BODY, "--obstacles",
             kind, "--json", "--repeat", str(repeats), "--seed", str(seed), *more])

    asked = {
        OURS: lambda seed: ours(seed, 1, "--checks", "0"),
        BETTER: lambda seed: ours(seed, 1),
        # The same search again and again: what it costs when the processor has seen it before.
        AGAIN: lambda seed: ours(seed, REPEATS, "--checks", "0"),
        PYTHON: lambda seed: lines_of(
            [sys.executable, peer.__file__, problems_file, BODY, kind, str(seed), str(TIMEOUT_S)],
            stderr=subprocess.DEVNULL),
    }
    if cpp:
        asked[CPP] = lambda seed: lines_of(
            [cpp, str(seed), str(TIMEOUT_S), str(peer.STEP_RAD)], input=text)
    return asked


def judge(check, robot, grid, problem, row):
    """Whether both paths of an answer are free and end right; the least clearance of each."""
    import numpy as np

    checker = check.Checker(robot, problem, row["obstacles"], grid)
    out = {}
    for which in ("waypoints_raw", "waypoints"):
        path = np.array(row[which])
        ends = np.abs([path[0] - problem["start"], path[-1] - problem["goal"]]).max()
        verdict = checker.check(path)
        out[which] = {"free": verdict.collision is None and bool(ends < 1e-6),
                      "clearance_m": verdict.clearance_m, "touches": verdict.collision}
    return out


def measure(args):
    sys.path[:0] = [str(HERE), str(ROOT / "peers")]
    import plan_check as check
    import plan_peer as peer

    robot, problems, grid = check.load(args.problems, BODY)
    cpp, runs = build_peer(), []
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("primitives", "voxels"):
            free = {one["name"]: one for one in problems if one[f"valid_{kind}"]}
            asked = Path(folder) / f"{kind}.json"
            check.write_problems(asked, free.values(), grid)
            text = peer.as_text(json.loads(BODY.read_text()), free.values(), kind, grid)
            todo = sides(peer, asked, text, kind, cpp)
            for index in range(args.rounds):
                for name in list(todo) if index % 2 == 0 else list(reversed(todo)):
                    print(f"{kind}, round {index + 1}: {name}", file=sys.stderr)
                    rows = todo[name](index + 1)
                    if {row["name"] for row in rows} != free.keys():
                        sys.exit(f"{name} answered {len(rows)} of {len(free)} problems")
                    # Repeated searches give the same paths: judged once.
                    if index < args.judged and name != AGAIN:
                        found = [row for row in rows if row["outcome"] == "found"]
                        cases = [(check, robot, grid, free[row["name"]], row) for row in found]
                        with ThreadPoolExecutor() as judges:
                            verdicts = judges.map(lambda case: judge(*case), cases)
                            for row, verdict in zip(found, verdicts):
                                row["judged"] = verdict
                    runs.extend({"side": name, "seed": index + 1} | row for row in rows)
    for run in runs:
        run.pop("waypoints", None)
        run.pop("waypoints_raw", None)
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), "unknown processor")
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"machine": model, "rounds": args.rounds, "runs": runs}) + "\n")


# --- tables -----------------------------------------------------------------------------------


def shown(micros):
    if micros < 1000:
        return f"{micros:.0f} µs"
    return f"{micros / 1e3:.3g} ms" if micros < 1e6 else f"{micros / 1e6:.3g} s"


def percentile(values, share):
    """The smallest value that at least that share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def row_of(side, kind, runs):
    found = [run for run in runs if run["outcome"] == "found"]
    plan = [run["plan_us"] for run in runs]
    if not found:
        return f"| {side} | {kind} | 0/{len(runs)} | | | | | | |"
    both = [run["plan_us"] + run.get("simplify_us", 0.0) + run.get("improve_us", 0.0)
            for run in runs]
    judged = [run["judged"] for run in found if "judged" in run]
    free = [f"{sum(one[which]['free'] for one in judged)}/{len(judged)}"
            for which in ("waypoints_raw", "waypoints")]
    free = ", ".join(free) if judged else "as above"
    lengths = [median(run[key] for run in found) for key in ("length_raw_rad", "length_rad")]
    return (f"| {side} | {kind} | {len(found)}/{len(runs)} | {shown(median(plan))} "
            f"| {shown(percentile(plan, 0.95))} | {shown(median(both))} "
            f"| {shown(percentile(both, 0.95))} | {lengths[0]:.2f} / {lengths[1]:.2f} "
            f"| {free} |")


def table(result):
    runs = result["runs"]
    lines = [f"{result['machine']}; {result['rounds']} rounds, each with a seed of its own.", "",
             "| planner | obstacles | solved | median | 95th | median with simplify | 95th "
             "| rad raw / simplified (medians) | free at 1 mrad: raw, simplified |",
             "| --- | --- | --- | --: | --: | --: | --: | --- | --- |"]
    for kind in ("primitives", "voxels"):
        for side in (OURS, AGAIN, BETTER, CPP, PYTHON):
            mine = [run for run in runs if (run["side"], run["obstacles"]) == (side, kind)]
            if mine:
                lines.append(row_of(side, kind, mine))
    return "\n".join(lines) + "\n\nMeasured elsewhere, on 100 problems:\n" + ELSEWHERE


def write_report():
    text = (HERE / "README.md").read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    body = table(json.loads(RESULT.read_text()))
    (HERE / "README.md").write_text(f"{before}{BEGIN}\n\n{body}\n{END}{after}")
    print(body)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--problems", default=str(HERE / "plan" / "problems_ur5.json"))
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--judged", type=int, default=1)
    words.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    words.add_argument("--report", action="store_true")
    args = words.parse_args()
    if args.inside:
        return measure(args)
    if not args.report:
        venv = subprocess.run([ROOT / "scripts" / "plan_venv.sh"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
        subprocess.run([f"{venv}/bin/python", __file__, "--inside", *sys.argv[1:]], check=True)
    write_report()


if __name__ == "__main__":
    main()
