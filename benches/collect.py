"""How fast the autopilot collects, and what it cannot be faster than.

    benches/run.sh collect [ROUNDS]

Collects with and without cameras on two workers, then has the physics and the pictures of the same
episodes done alone on two threads. Alternates, and prints medians, ratios and times of real time.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

CITRANGE = os.environ.get("CITRANGE_BIN", "target/release/citrange")
BENCH = os.environ.get("CITRANGE_BENCH_BIN", "target/release/citrange-bench")
WORKERS = 2
CASES = {"no cameras": (40, ["--cameras", "none"]), "two cameras 640x480": (4, [])}


def collected(folder, episodes, options):
    words = [CITRANGE, "collect", "orange_plate", "--episodes", str(episodes), "--workers", str(WORKERS),
             "--out", folder, "--json", *options]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    done = json.loads(lines[-1])
    assert done["success"] == episodes, done
    return done


def alone(folder):
    words = [BENCH, "alone", "--set", folder, "--threads", str(WORKERS)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    results = {name: [] for name in CASES}
    for _ in range(rounds):
        for name, (episodes, options) in CASES.items():
            with tempfile.TemporaryDirectory() as folder:
                done = collected(f"{folder}/set", episodes, options)
                results[name].append({**done, **alone(f"{folder}/set")})
    table = ["| what | episodes | times real time | collected in | physics alone | pictures alone | coding alone | of the slower alone | of drawing and coding |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    kept = {}
    for name, runs in results.items():
        median = {key: statistics.median(run[key] for run in runs)
                  for key in ("wall_s", "sim_s", "physics_secs", "drawing_secs", "coding_secs", "times_real_time")}
        share = statistics.median(max(r["physics_secs"], r["drawing_secs"]) / r["wall_s"] for r in runs)
        both = statistics.median((r["drawing_secs"] + r["coding_secs"]) / r["wall_s"] for r in runs)
        of_both = f"{both:.2f}" if both else "-"
        pictures, coding = (f"{median[key]:.1f} s" if median[key] else "-" for key in ("drawing_secs", "coding_secs"))
        table.append(f"| {name} | {CASES[name][0]} | {median['times_real_time']:.1f} | {median['wall_s']:.1f} s | "
                     f"{median['physics_secs']:.1f} s | {pictures} | {coding} | **{share:.2f}** | {of_both} |")
        kept[name] = {**median, "share_of_the_slower": share, "share_of_drawing_and_coding": both, "rounds": rounds}
    with open("benches/results/collect.json", "w") as out:
        json.dump(kept, out, indent=1)
        out.write("\n")
    print("\n".join(table))


if __name__ == "__main__":
    main()
