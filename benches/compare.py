"""Two builds of ours in turns: what a change made faster or slower.

    python3 benches/compare.py BEFORE AFTER [--rounds 9] [--only space plan] [-o FILE.json]

BEFORE and AFTER are folders with `citrange` and `citrange-bench` (target/release of two checkouts,
each built with `cargo build --release -p citrange-bench -p citrange-cli`). Every round asks both
for the same work, in an order that turns round, pinned to one core; the figure is the median over
the rounds of before / after within a round, with its quartiles: above 1 is faster now (stages of
space give their least of nine, since they are wall time). What is
computed from both (voxels, paths, pictures' sizes) is not compared here: tests do that.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles

HERE = Path(__file__).resolve().parent
PROBLEMS = HERE / "plan" / "problems_ur5.json"
STAGES = ("front", "whole", "message", "clusters", "self", "support", "near", "map",
          "outliers_exact", "outliers_fast")
CORE = {max(os.sched_getaffinity(0))}


def answer(words):
    """The last line of a program, as JSON."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True,
                          check=True, preexec_fn=lambda: os.sched_setaffinity(0, CORE))
    return json.loads(done.stdout.splitlines()[-1])


def seconds_of(row):
    """A benchmark's row tells CPU seconds; old builds call the key otherwise."""
    return median(row.get("cpu_secs") or row["cpu_s"])


class Build:
    """One build and its process for clouds, which keeps its memory warm."""

    def __init__(self, folder, work):
        self.bench, self.citrange, self.work = folder / "citrange-bench", folder / "citrange", work
        self.space = subprocess.Popen(
            [self.bench, "space"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, CORE))

    def ask(self, **request):
        self.space.stdin.write(json.dumps(request) + "\n")
        self.space.stdin.flush()
        line = self.space.stdout.readline()
        if not line:
            sys.exit(f"{self.bench} ended at {request}")
        return json.loads(line)

    def step(self):
        row = answer([self.bench, "step", "--envs", 16, "--threads", 1, "--rounds", 1])
        return {f"step: {name}": seconds_of(row[name]) for name in ("rollout", "step_calls")}

    def state(self):
        row = answer([self.bench, "state", "--envs", 1024, "--threads", 1, "--rounds", 15])
        return {"state: read 1024": seconds_of(row["read"])}

    def picture(self):
        row = answer([self.bench, "camera", "--dir", self.work / "export", "--rounds", 7])
        return {f"picture: {view}, {way}": seconds_of(ways[way])
                for view, ways in row["views"].items() for way in ("shadows", "plain")}

    def record(self):
        frames = self.work / "frames"
        row = answer([self.bench, "tape", "--front", frames / "front.rgb", "--wrist",
                      frames / "wrist.rgb", "--out", self.work / "set", "--count", 90, "--json"])
        subprocess.run(["rm", "-rf", self.work / "set"], check=True)
        return {"record: cpu per step": row["cpu_ms_per_step"]}

    def clouds(self):
        out = {}
        for frame in sorted((self.work / "clouds").glob("*.npz")):
            for size in (0.05, 0.02):
                for stage in STAGES:
                    if stage.startswith("outliers") and size == 0.02:
                        continue
                    told = self.ask(frame=str(frame), stage=stage, times=9, threads=1, voxel_m=size)
                    name = f"space: {stage}, {100 * size:g} cm"
                    out[name] = out.get(name, 0.0) + min(told.get("secs") or told["s"])
        return out

    def queries(self):
        told = self.ask(stage="queries", times=30, threads=1)
        return {f"space: {what}": float(re.match(r"([\d.]+) ns", text).group(1))
                for what, text in told.items() if isinstance(text, str)}

    def plan(self):
        out = {}
        for kind in ("primitives", "voxels"):
            told = answer([self.citrange, "plan", "bench", PROBLEMS, "--obstacles", kind,
                           "--repeat", 9, "--json"])["summary"]
            out[f"plan: {kind}, search"] = told["plan_us"]["median"]
            out[f"plan: {kind}, search and simplify"] = told["plan_and_simplify_us"]["median"]
        return out


PARTS = {"step": Build.step, "state": Build.state, "picture": Build.picture,
         "record": Build.record, "space": Build.clouds, "queries": Build.queries,
         "plan": Build.plan}


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("before", type=Path)
    words.add_argument("after", type=Path)
    words.add_argument("--rounds", type=int, default=9)
    words.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    words.add_argument("-o", "--out", type=Path)
    args = words.parse_args()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        builds = [Build(folder.resolve(), work) for folder in (args.before, args.after)]
        first = builds[0]
        answer([first.bench, "export", "--dir", work / "export"])
        answer([first.bench, "tape-frames", "--out", work / "frames", "--count", 90])
        subprocess.run([first.citrange, "space", "simulate", "ur5_cell", "--camera", "depth",
                        "--frames", "3", "--each-episode", "-o", work / "clouds"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        table = {}
        for part in args.only:
            rows = [{}, {}]
            for index in range(args.rounds):
                print(f"\r{part}: round {index + 1} of {args.rounds} ", end="", file=sys.stderr)
                for side in (0, 1) if index % 2 == 0 else (1, 0):
                    for name, cost in PARTS[part](builds[side]).items():
                        rows[side].setdefault(name, []).append(cost)
            print(file=sys.stderr)
            for name in rows[0]:
                ratios = [b / a for b, a in zip(rows[0][name], rows[1].get(name, []))]
                low, _, high = quantiles(ratios, n=4) if len(ratios) > 1 else (ratios[0],) * 3
                table[name] = [round(median(ratios), 3), round(low, 3), round(high, 3)]
                print(f"{name:55} {median(ratios):6.3f}   {low:.3f} .. {high:.3f}", flush=True)
    if args.out:
        args.out.write_text(json.dumps({"rounds": args.rounds, "before / after": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
