#!/usr/bin/env python3
"""Trains policies for seeds, rungs and robots, many at a time, and makes the tables of docs/policy.md.

    cargo build --release -p citrange-policy --example ladder
    benches/policy.py target/release/examples/ladder --out policy_figures

Needs nothing but the binary and Python. A job is one training and its evaluation; times are
processor seconds of the job, so jobs may run side by side.
"""

import argparse
import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path


def jobs_of(args):
    """Every job as a dictionary of the words that the binary takes."""
    jobs = []
    seeds = range(1, args.seeds + 1)
    if "tune" in args.parts:
        for seed in seeds:
            for rate in ("0.001", "0.0005"):
                for again in ("0", "0.7"):
                    jobs.append({"part": "tune", "rung": "a", "seed": seed, "rate": rate, "again": again})
    if "ladder" in args.parts:
        for rung in ("a", "b", "c"):
            rungs = "a,b,c" if rung != "c" else "a,b,c,mixed"
            jobs += [{"part": "ladder", "rung": rung, "seed": seed, "rungs": rungs} for seed in seeds]
    if "robots" in args.parts:
        for robot in ("ur5", "panda", "so101"):
            for rung in ("a", "b"):
                jobs += [{"part": "robots", "robot": robot, "rung": rung, "seed": seed} for seed in seeds]
    if "robust" in args.parts:
        jobs += [
            {"part": "robust", "rung": "b", "seed": seed, "disturbed": disturbed, "rungs": "b"}
            for seed in seeds
            for disturbed in ("1",)
        ]
    if "moving" in args.parts:
        jobs += [{"part": "moving", "rung": "e", "seed": seed, "rungs": "e"} for seed in seeds]
    if "mixed" in args.parts:
        jobs += [{"part": "mixed", "rung": "mixed", "seed": seed, "rungs": "a,b,c,mixed"} for seed in seeds]
    if "short" in args.parts:
        # What fits into nine minutes on sixteen cores.
        long = {"a": 5_000_000, "b": 11_000_000, "c": 11_000_000, "e": 11_000_000}
        for rung, rungs in (("a", "a"), ("b", "a,b,c"), ("c", "a,b,c,mixed"), ("e", "e")):
            jobs += [
                {"part": "short", "rung": rung, "seed": seed, "rungs": rungs, "steps": long[rung]}
                for seed in seeds
            ]
        for robot in ("ur5", "panda", "so101"):
            jobs.append({"part": "short", "robot": robot, "rung": "a", "seed": 1, "steps": 5_000_000})
        jobs.append({"part": "short", "robot": "ur5", "rung": "b", "seed": 1, "steps": 8_000_000})
    return jobs


def run(args, job):
    words = {key: value for key, value in job.items() if key != "part"}
    words.setdefault("episodes", args.episodes)
    words.setdefault("threads", args.threads)
    if args.rate:
        words.setdefault("rate", args.rate)
    if args.steps:
        words.setdefault("steps", args.steps)
    name = "_".join(str(value).replace(",", "") for value in job.values())
    words["out"] = args.out / "trainings" / name
    command = [str(args.binary.resolve())] + [f"{key}={value}" for key, value in words.items()]
    began = time.time()
    ran = subprocess.run(command, capture_output=True, text=True)
    (args.out / f"{name}.log").write_text(ran.stderr)
    if ran.returncode:
        print(f"{name} failed: {ran.stderr.strip().splitlines()[-1:]}", flush=True)
        return None
    told = json.loads(ran.stdout)
    told["part"] = job["part"]
    (args.out / f"{name}.json").write_text(json.dumps(told, indent=1))
    first = told["evaluation"]["rungs"][0]
    share = 100 * first["success"]["share"]
    print(f"{name}: {share:.2f} % after {told['train_cpu_s']:.0f} CPU-s ({time.time() - began:.0f} s)", flush=True)
    return told


def share(of):
    low, high = of["interval"]
    return f"{100 * of['share']:.2f} ({100 * low:.2f}-{100 * high:.2f})"


def tables(results):
    lines = []
    for part in dict.fromkeys(result["part"] for result in results):
        lines += [
            f"## {part}",
            "| robot | trained on | seed | rate | again | disturbed | CPU-s | steps/CPU-s | tried on "
            "| single, % | box/floor/self/late | of 4 | of 16 | proved, one of 16 | refused | touching "
            "| steps | rad | planner's rad | us each |",
            "|" + "---|" * 20,
        ]
        for result in results:
            if result["part"] != part:
                continue
            for kind in ("evaluation", "evaluation_disturbed"):
                for rung in (result.get(kind) or {}).get("rungs", []):
                    best = {b["attempts"]: share(b["success"]) for b in rung["best_of"]}
                    ended, proof, planner = rung["ended"], rung["proof"], rung["planner"]
                    tried = rung["rung"] + (" disturbed" if kind.endswith("disturbed") else "")
                    cells = [
                        result["robot"], result["rung"], result["seed"], result["learning_rate"],
                        result["again"], result["disturbed"], f"{result['train_cpu_s']:.0f}",
                        f"{result['steps_per_cpu_s']:.0f}", tried, share(rung["success"]),
                        f"{ended['boxes']}/{ended['floor']}/{ended['itself']}/{ended['late']}",
                        best.get(4, ""), best.get(16, ""),
                        share(proof["best"]) if proof else "", proof["refused"] if proof else "",
                        f"{proof['touching']}/{proof['checked']}" if proof else "",
                        f"{rung['steps']['mean']:.1f}", f"{rung['length_rad']['mean']:.2f}",
                        f"{planner['length_rad']['mean']:.2f}" if planner else "",
                        f"{rung['attempt_us']:.0f}",
                    ]
                    lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--out", type=Path, default=Path("policy_figures"))
    parser.add_argument("--parts", default="ladder,robots,robust,moving,mixed", help="also: tune, short")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, help="of every training; as the rung has it if not given")
    parser.add_argument("--rate", help="learning rate; the default if not given")
    parser.add_argument("--episodes", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=1, help="of each job")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.parts = args.parts.split(",")
    (args.out / "trainings").mkdir(parents=True, exist_ok=True)
    # The long ones first.
    order = {"a": 0, "e": 1, "b": 2, "mixed": 3, "c": 4}
    jobs = sorted(jobs_of(args), key=lambda job: -order[job["rung"]])
    results = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for done in as_completed([pool.submit(run, args, job) for job in jobs]):
            # The tables are there whenever it is stopped.
            results += [done.result()] if done.result() else []
            results.sort(key=lambda r: (r["part"], r["robot"], r["rung"], r["seed"]))
            (args.out / "tables.md").write_text(tables(results))
    print(tables(results))


if __name__ == "__main__":
    main()
