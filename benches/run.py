"""Runs ours and the peers in turns (A B, B A, A B, ...) and writes results and tables.

    python3 benches/run.py [step] [state] [camera] [--rounds 7]
    python3 benches/run.py --report        # only the tables, from benches/results
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results"
OURS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "citrange-bench"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"

# Environments, threads, steps of the stepping benchmark.
STEP_SIZES = ((1, 1, 3600), (64, 1, 360), (64, 2, 360))


def call(words, **environment):
    """Runs a program and reads the JSON object that it prints."""
    words = [str(word) for word in words]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    if done.returncode:
        sys.exit(f"failed: {' '.join(words)}")
    return json.loads(done.stdout)


def ours(name, *words):
    return call([OURS, name, *words])


def peer(name, *words, gl=None):
    environment = {"MUJOCO_GL": gl} if gl else {}
    return call([PEERS, HERE / "peers.py", name, *words], **environment)


def in_turns(rounds, *sides):
    """Each side once per round, the order reversed every other round: a list per side."""
    reports = [[] for _ in sides]
    for index in range(rounds):
        order = range(len(sides)) if index % 2 == 0 else reversed(range(len(sides)))
        for side in order:
            reports[side].append(sides[side]())
        print(f"  round {index + 1} of {rounds}", file=sys.stderr)
    return reports


def per_round(reports, *path):
    """CPU and wall seconds of each round: the median of its samples."""
    out = {"cpu": [], "wall": []}
    for report in reports:
        for key in path:
            report = report[key]
        for clock in out:
            out[clock].append(median(report[f"{clock}_secs"]))
    return out


def ratio(numerator, denominator, clock):
    """Median over the rounds of the quotient within a round: what drifts, drifts for both."""
    return median(n / d for n, d in zip(numerator[clock], denominator[clock]))


# --- the benchmarks ---------------------------------------------------------------------------


def bench_step(rounds, work):
    result = {}
    for envs, threads, steps in STEP_SIZES:
        print(f"step: {envs} environments, {threads} threads", file=sys.stderr)
        folder = work / f"step-{envs}-{threads}"
        meta = ours("export", "--dir", folder, "--envs", envs, "--steps", steps)
        size = ("--envs", envs, "--threads", threads, "--steps", steps, "--rounds", 1)
        mine, theirs = in_turns(
            rounds,
            lambda: ours("step", *size),
            lambda: peer("step", "--dir", folder, "--threads", threads, "--rounds", 1),
        )
        # The peer has compared its joint positions with the exported ones bit by bit.
        if any(report["checksum"] != meta["checksum"] for report in mine):
            sys.exit("step: ours did other work")
        names = ("rollout", "step_calls", "bare_loop", "bare_loop_joined")
        samples = {f"ours.{n}" if n[0] != "b" else n: per_round(mine, n) for n in names}
        for name in ("rollout", "rollout_recording", "batch", "batch_calls"):
            samples[f"python.{name}"] = per_round(theirs, name)
        result[f"{envs} x {threads}"] = {
            "envs": envs, "threads": threads, "steps": steps, "checksum": meta["checksum"],
            "mean_contacts": meta["mean_contacts"], "sizes": meta["sizes"], "samples": samples,
        }
    return result


def bench_state(rounds, work):
    folder, threads = work / "state", 2
    ours("state", "--dir", folder, "--rounds", 1)
    print("state: 1024 environments", file=sys.stderr)
    mine, theirs = in_turns(
        rounds,
        lambda: ours("state", "--threads", threads, "--rounds", 10),
        lambda: peer("state", "--dir", folder, "--threads", threads, "--rounds", 10),
    )
    samples = {f"ours.{n}": per_round(mine, n) for n in ("step", "read", "bare_step", "copy")}
    for name in ("numpy", "batch_read", "batch_step"):
        samples[f"python.{name}"] = per_round(theirs, name)
    return {"envs": 1024, "threads": threads, "bytes": mine[0]["bytes"], "samples": samples}


def bench_camera(rounds, work):
    folder = work / "camera"
    print("camera", file=sys.stderr)
    rays = ours("camera", "--dir", folder, "--rounds", 1, "--check", 1)["views"]
    check = ("camera", "--dir", folder, "--rounds", 1, "--check", "--ways", "plain")
    agree = peer(*check, gl="egl")["views"]
    mine, egl, osmesa = in_turns(
        rounds,
        lambda: ours("camera", "--dir", folder, "--rounds", 9),
        lambda: peer("camera", "--dir", folder, "--rounds", 1, gl="egl"),
        lambda: peer("camera", "--dir", folder, "--rounds", 1, gl="osmesa"),
    )
    result = {}
    for view in rays:
        ways = ("shadows", "smooth", "plain", "state_shadows", "copy")
        samples = {f"ours.{way}": per_round(mine, "views", view, way) for way in ways}
        for way in ("shadows", "smooth", "plain"):
            samples[f"egl.{way}"] = per_round(egl, "views", view, way)
            samples[f"osmesa.{way}"] = per_round(osmesa, "views", view, way)
        result[view] = {
            "against_rays": rays[view]["against_rays"],
            "against_renderer": agree[view]["agreement"],
            "samples": samples,
        }
    return result


# --- the tables -------------------------------------------------------------------------------


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]]
    return "\n".join(lines) + "\n"


def verdict(reached, goal):
    return f"{goal}: {'yes' if reached else '**no**'}"


def report_step(result):
    rows = []
    for case in result.values():
        samples, steps = case["samples"], case["envs"] * case["steps"]
        label = f"N={case['envs']}, {case['threads']} thread" + "s" * (case["threads"] > 1)
        pairs = (
            ("rollout", "ours.rollout", "bare_loop", "`mj_step` loop", 0.97),
            ("rollout", "ours.rollout", "python.rollout", "`mujoco.rollout`", 1.0),
            ("rollout", "ours.rollout", "python.batch", "`mujoco.batch` rollout", None),
            ("step(1) calls", "ours.step_calls", "bare_loop", "`mj_step` loop", 0.97),
            ("step(1) calls", "ours.step_calls", "bare_loop_joined", "same, joined each step", 0.97),
            ("step(1) calls", "ours.step_calls", "python.batch_calls", "`mujoco.batch` step", None),
        )
        for way, mine, theirs, name, goal in pairs:
            a, b = samples[mine], samples[theirs]
            cpu, wall = ratio(b, a, "cpu"), ratio(b, a, "wall")
            per_second = steps / median(a["cpu"]) / 1e3, steps / median(b["cpu"]) / 1e3
            met = "" if goal is None else verdict(cpu >= goal, f"≥ {goal}")
            rows.append([
                label, way, f"{per_second[0]:.1f}k", name, f"{per_second[1]:.1f}k",
                f"**{cpu:.3f}**", f"{wall:.3f}", met,
            ])
    contacts = ", ".join(f"{c['mean_contacts']:.1f} (N={c['envs']})" for c in result.values())
    head = ["size", "ours", "steps / cpu s", "peer", "steps / cpu s", "ratio (cpu)",
            "ratio (wall)", "goal"]
    return f"Mean contacts at a time: {contacts}.\n\n" + table(head, rows)


def report_state(result):
    samples = result["samples"]
    rows = []

    def row(what, mine, theirs, as_share, goal, met):
        a, b = samples[mine], samples[theirs]
        values = []
        for clock in ("cpu", "wall"):
            value = ratio(a, b, clock) if as_share else ratio(b, a, clock)
            digits = 3 if value < 2 else 1
            values.append(f"{100 * value:.2f} %" if as_share else f"{value:.{digits}f}x")
        base = ratio(a, b, "cpu") if as_share else ratio(b, a, "cpu")
        rows.append([
            what, f"{1e3 * median(a['cpu']):.3f} ms", f"{1e3 * median(b['cpu']):.3f} ms",
            f"**{values[0]}**", values[1], verdict(met(base), goal) if goal else "",
        ])

    row("read, share of our step", "ours.read", "ours.step", True, "< 5 %", lambda v: v < 0.05)
    row("read, against numpy over MjData", "ours.read", "python.numpy", False, "≥ 20x",
        lambda v: v >= 20)
    row("read, against numpy over mujoco.batch", "ours.read", "python.batch_read", False, "", None)
    row("read, against a copy of as many bytes", "ours.read", "ours.copy", False, "", None)
    row("step, against a bare mj_step", "ours.step", "ours.bare_step", False, "", None)
    row("step, against mujoco.batch step", "ours.step", "python.batch_step", False, "", None)
    clocks = ("cpu", "wall")
    both = {c: [a + b for a, b in zip(samples["ours.step"][c], samples["ours.read"][c])]
            for c in clocks}
    samples = dict(samples, both=both)
    samples["numpy_both"] = {
        c: [a + b for a, b in zip(samples["ours.bare_step"][c], samples["python.numpy"][c])]
        for c in clocks
    }
    samples["batch_both"] = {
        c: [a + b for a, b in zip(samples["python.batch_step"][c], samples["python.batch_read"][c])]
        for c in clocks
    }
    row("step and read, against bare mj_step and numpy", "both", "numpy_both", False, "", None)
    row("step and read, against mujoco.batch", "both", "batch_both", False, "", None)
    head = ["what", "first", "second", "ratio (cpu)", "ratio (wall)", "goal"]
    note = f"{result['envs']} environments, {result['bytes'] / 1e6:.2f} MB per read.\n\n"
    return note + table(head, rows)


def report_camera(result):
    rows, exact = [], []
    gained = {"shadows": [], "smooth": [], "plain": []}
    for view, case in result.items():
        samples = case["samples"]
        for way in gained:
            gained[way] += [ratio(samples[f"{gl}.{way}"], samples[f"ours.{way}"], "cpu")
                            for gl in ("egl", "osmesa")]
        for way, goal in (("shadows", 20), ("smooth", None), ("plain", 5)):
            mine = samples[f"ours.{way}"]
            cells = [view, way, f"{1e3 * median(mine['cpu']):.2f} ms"]
            reached = True
            for gl in ("egl", "osmesa"):
                theirs = samples[f"{gl}.{way}"]
                value = ratio(theirs, mine, "cpu")
                reached &= goal is None or value >= goal
                cells.append(f"{1e3 * median(theirs['cpu']):.1f} ms, **{value:.1f}x**")
            pixel = 1e9 * median(mine["cpu"]) / (640 * 480)
            cells.append(f"{pixel:.0f} ns")
            cells.append(verdict(reached, f"≥ {goal}x") if goal else "")
            rows.append(cells)
        rays, renderer = case["against_rays"], case["against_renderer"]
        error = rays["depth_error_m"]
        exact.append([
            view, f"{error['median']:.1e} m", f"{error['p999']:.1e} m",
            f"{100 * rays['ids_equal']:.3f} %", f"{100 * renderer['ids_equal']:.3f} %",
            verdict(
                error["median"] < 1e-5 and min(rays["ids_equal"], renderer["ids_equal"]) >= 0.999,
                "< 1e-5 m, ≥ 99.9 %",
            ),
        ])
    copy = median(median(c["samples"]["ours.copy"]["cpu"]) for c in result.values())
    state = median(ratio(c["samples"]["ours.state_shadows"], c["samples"]["ours.shadows"], "cpu")
                   for c in result.values())
    summary = ", ".join(f"{way} {min(v):.1f}x to {max(v):.1f}x (median {median(v):.1f}x)"
                        for way, v in gained.items())
    return (
        f"Less CPU time than `mujoco.Renderer`: {summary}. A copy of a frame's bytes takes "
        f"{1e3 * copy:.2f} ms. Through `get_state` (own arrays, ids of bodies and things) a frame "
        f"takes {state:.2f} times as long.\n\n"
        + table(["view", "way", "ours", "EGL", "OSMesa", "ours per pixel", "goal"], rows)
        + "\n"
        + table(["view", "depth error, median", "99.9 %", "ids equal, rays",
                 "ids equal, Renderer", "goal"], exact)
    )


def machine():
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    cpu = next((line.split(":", 1)[1].strip() for line in text.splitlines()
                if line.startswith("model name")), platform.machine())
    wide = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2"))
                 if flag in text), "no AVX")
    versions = call([PEERS, "-c", "import json, mujoco, numpy; print(json.dumps("
                     "{'mujoco': mujoco.__version__, 'numpy': numpy.__version__}))"])
    return {"cpu": cpu, "vector": wide, "cores": os.cpu_count(), "system": platform.system(),
            "python": platform.python_version(), **versions}


def write_report():
    parts = []
    titles = {"step": "Stepping", "state": "Reading state", "camera": "Pictures"}
    reports = {"step": report_step, "state": report_state, "camera": report_camera}
    for name, title in titles.items():
        path = RESULTS / f"{name}.json"
        if not path.exists():
            continue
        stored = json.loads(path.read_text())
        m = stored["machine"]
        where = (f"{m['cores']} cores of {m['cpu']} ({m['vector']}), {m['system']}, "
                 f"MuJoCo {m['mujoco']}, Python {m['python']}, numpy {m['numpy']}; "
                 f"{stored['rounds']} rounds.")
        parts.append(f"### {title}\n\n{where} {reports[name](stored['result'])}")
    text = "\n".join(parts)
    readme = HERE / "README.md"
    page = readme.read_text()
    before, rest = page.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    readme.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
    print(text)


def main():
    global PEERS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="step, state, camera; all when none is given")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--report", action="store_true", help="only write the tables again")
    args = parser.parse_args()
    benches = {"step": bench_step, "state": bench_state, "camera": bench_camera}
    for name in args.names:
        if name not in benches:
            parser.error(f"unknown benchmark {name}, choose from {', '.join(benches)}")
    if not args.report:
        venv = subprocess.run([ROOT / "scripts" / "peers.sh"], stdout=subprocess.PIPE, text=True,
                              check=True).stdout.strip()
        PEERS = Path(venv) / "bin" / "python"
        RESULTS.mkdir(exist_ok=True)
        for name in args.names or benches:
            with tempfile.TemporaryDirectory() as work:
                result = benches[name](args.rounds, Path(work))
            stored = {"machine": machine(), "rounds": args.rounds, "result": result}
            (RESULTS / f"{name}.json").write_text(json.dumps(stored, indent=1) + "\n")
    write_report()


if __name__ == "__main__":
    main()
