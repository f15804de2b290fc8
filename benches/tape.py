"""Recording: ours and the real lerobot in turns, on the same frames. Writes results and a table.

    python3 benches/tape.py [--rounds 3] [--count 421] [--paces paced unpaced]
    python3 benches/tape.py --report        # only the table, from benches/results
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from run import HERE, OURS, RESULTS, ROOT, call, in_turns, table, verdict

BEGIN, END = "<!-- tape: begin -->", "<!-- tape: end -->"
MODES = ("default", "default_h264", "streaming", "streaming_h264")
NAMES = {
    "ours": "ours", "default": "lerobot (PNG, then AV1)", "streaming": "lerobot streaming AV1",
    "default_h264": "lerobot h264 (PNG first)", "streaming_h264": "lerobot streaming h264",
}
PACES = {"paced": "At 30 Hz", "unpaced": "As fast as it goes"}


def bench(rounds, count, paces, work):
    venv = subprocess.run([ROOT / "scripts" / "lerobot_venv.sh"], stdout=subprocess.PIPE,
                          text=True, check=True).stdout.strip()
    python = Path(venv) / "bin" / "python"
    quiet = {"OMP_NUM_THREADS": "1", "HF_HOME": str(work / "cache")}
    frames = work / "frames"
    call([OURS, "tape-frames", "--out", frames, "--count", count])
    raws = ("--front", frames / "front.rgb", "--wrist", frames / "wrist.rgb", "--count", count)

    def peer(*words):
        return call([python, HERE / "tape_peer.py", *words], **quiet)

    def ours(pace):
        shutil.rmtree(work / "set", ignore_errors=True)
        report = call([OURS, "tape", *raws, "--out", work / "set", *pace, "--json"])
        # Size and quality of both sides come from the same eyes. A picture that we drop is
        # replaced by the one before, so only the recorder knows of it.
        seen = peer("measure", "--set", work / "set", *raws)
        return {**report, **seen, "dropped": report["dropped"] + seen["dropped"]}

    def theirs(mode, pace):
        shutil.rmtree(work / "set", ignore_errors=True)
        return peer("record", mode, *raws, "--out", work / "set", *pace)

    result = {"count": count, "paces": {}}
    for name in paces:
        print(f"tape: {PACES[name]}, {count} steps", file=sys.stderr)
        pace = ("--paced",) if name == "paced" else ()
        sides = [lambda: ours(pace)]
        sides += [lambda mode=mode: theirs(mode, pace) for mode in MODES]
        reports = in_turns(rounds, *sides)
        result["paces"][name] = dict(zip(("ours", *MODES), reports))
    quality = result["paces"][paces[0]]["ours"][0]["psnr_db"]
    print("tape: lerobot's h264 at the same PSNR", file=sys.stderr)
    result["match"] = peer("match", *raws, "--front-db", quality["front"],
                           "--wrist-db", quality["wrist"])
    return result


def values(reports, *path):
    out = []
    for report in reports:
        for key in path:
            report = report[key]
        out.append(report)
    return out


def middle(reports, *path):
    return median(values(reports, *path))


def less(theirs, mine, key):
    """How many times less ours takes: median over the rounds of the quotient within a round."""
    return median(t / m for t, m in zip(values(theirs, key), values(mine, key)))


def report_pace(name, sides, count):
    rows = []
    for side, reports in sides.items():
        mine = sides["ours"]
        gain = "" if side == "ours" else f", **{less(reports, mine, 'cpu_ms_per_step'):.1f}x**"
        saved = "" if side == "ours" else f", **{less(reports, mine, 'save_secs'):.1f}x**"
        stall = [f"{middle(reports, 'stall_ms', key):.1f}" for key in ("p999", "worst")]
        quality = [f"{middle(reports, 'psnr_db', key):.1f}" for key in ("front", "wrist")]
        dropped = values(reports, "dropped")
        lost = " to ".join(str(number) for number in sorted({min(dropped), max(dropped)}))
        rows.append([
            NAMES[side],
            f"{middle(reports, 'cpu_ms_per_step'):.1f} ms{gain}",
            f"{middle(reports, 'steps_per_sec'):.1f}",
            f"{middle(reports, 'save_secs'):.2f} s{saved}",
            " / ".join(stall) + " ms",
            f"{middle(reports, 'bytes_per_step'):,.0f}",
            " / ".join(quality) + " dB",
            lost,
            f"{middle(reports, 'peak_rss_mb'):.0f} MB",
        ])
    head = ["recorder", "cpu per step", "steps / s", "save", "stall 99.9 % / worst",
            "bytes per step", "PSNR front / wrist", "pictures lost", "memory"]
    return f"{PACES[name]}, {count} steps:\n\n" + table(head, rows)


def report(stored):
    m, result = stored["machine"], stored["result"]
    parts = [f"{m['cores']} cores of {m['cpu']}, {m['system']}, lerobot {m['lerobot']}, "
             f"{stored['rounds']} {'round' if stored['rounds'] == 1 else 'rounds, medians'}; "
             f"load average {stored['load'][0]:.1f} before, {stored['load'][1]:.1f} after.\n"]
    for name, sides in result["paces"].items():
        parts.append(report_pace(name, sides, result["count"]))
    sides = next(iter(result["paces"].values()))
    size = middle(sides["ours"], "video_bytes_per_step")
    same = result["match"]
    theirs = sum(camera["bytes_per_step"] for camera in same.values())
    words = ", ".join(f"{name} crf {camera['crf']:.1f}, {camera['psnr_db']:.1f} dB"
                      for name, camera in same.items())
    parts.append(
        f"At our PSNR lerobot's h264 ({words}) takes {theirs:,.0f} bytes of video per step, ours "
        f"{size:,.0f}: {verdict(size <= theirs, 'no larger')} ({theirs / size:.2f}x).\n"
    )
    return "\n".join(parts)


def machine(cpuinfo=Path("/proc/cpuinfo")):
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    cpu = next((line.split(":", 1)[1].strip() for line in text.splitlines()
                if line.startswith("model name")), platform.machine())
    pins = dict(line.split("==") for line in (ROOT / "scripts/lerobot.txt").read_text().split())
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.system(),
            "lerobot": pins["lerobot"], "av": pins["av"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=421)
    parser.add_argument("--paces", nargs="+", choices=PACES, default=list(PACES))
    parser.add_argument("--report", action="store_true", help="only write the table again")
    args = parser.parse_args()
    path = RESULTS / "tape.json"
    if not args.report:
        load = [os.getloadavg()[0]]
        with tempfile.TemporaryDirectory() as work:
            result = bench(args.rounds, args.count, args.paces, Path(work))
        RESULTS.mkdir(exist_ok=True)
        load.append(os.getloadavg()[0])
        stored = {"machine": machine(), "load": load, "rounds": args.rounds, "result": result}
        path.write_text(json.dumps(stored, indent=1) + "\n")
    text = report(json.loads(path.read_text()))
    readme = HERE / "README.md"
    before, rest = readme.read_text().split(BEGIN, 1)
    readme.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.split(END, 1)[1]}")
    print(text)


if __name__ == "__main__":
    main()
