"""A leader-follower recording by lerobot and one by us, in turns, on the same emulated buses.

    python3 benches/leader_follower.py --bin target/release/citrange --seconds 20 --rounds 3

Run it with the Python of `scripts/lerobot_venv.sh`. Both record 30 frames a second without cameras;
lerobot reads and writes its buses once a frame, ours 180 times a second. Written per round: frames
kept, time between two readings of the follower as its emulator logged them (median, 99 %, worst), how
far readings were from their period, and CPU of the recording process per second.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

JOINTS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]
TICK = os.sysconf("SC_CLK_TCK")


class Arm:
    """`citrange rig emulate so101`, in a process of its own."""

    def __init__(self, bin, folder, kind):
        self.file = folder / f"{kind}.json"
        self.log = folder / f"{kind}.csv"
        words = [bin, "rig", "emulate", "so101", "--scene", "orange_plate", "--json", "--attached"]
        words += ["--calibration", self.file, "--log", self.log]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())["port"]

    def order(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["arm"]["servos"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


def move(leader, over):
    """A hand that moves the leader until it is over."""
    middle = {servo["id"]: servo["counts"] for servo in leader.order("look")}
    begun = time.monotonic()
    while not over.wait(0.02):
        t = time.monotonic() - begun
        # Clear of the table and what stands on it.
        for number, reach in ((1, 120), (2, 0), (3, 0), (4, 60), (5, 300), (6, 150)):
            count = middle[number] + reach * math.sin(0.9 * t + number)
            leader.order(f"turn {number} {count:.0f}")


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def ours(bin, folder, leader, arm, seconds):
    words = [bin, "drive", "--json", "orange_plate", "--listen", "127.0.0.1:0"]
    words += ["--rig", f"so101:{arm.port}", "--calibration", arm.file]
    words += ["--leader", f"so101:{leader.port}", "--leader-calibration", leader.file]
    words += ["--record", folder / "ours", "--episodes", "1", "--episode-time", str(seconds)]
    words += ["--countdown", "0.5", "--reset-time", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    told = {}
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "begin":
            begun, cpu = time.monotonic_ns(), cpu_s(process.pid)
        if event["event"] == "saved":
            assert event["outcome"]["reason"] == "time_up", event
            told = {"frames": event["frames"], "late": event["late_ticks"]}
            told |= {"from": begun, "to": time.monotonic_ns(), "cpu_s": cpu_s(process.pid) - cpu}
    assert process.wait(60) == 0
    return told


def theirs(folder, leader, arm, seconds):
    words = [sys.executable, __file__, "--lerobot", folder, leader.port, arm.port, str(seconds)]
    told = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(told.splitlines()[-1])


def lerobot(folder, leader_port, arm_port, seconds):
    """lerobot's own classes, unmodified, as its record loop uses them."""
    from lerobot.datasets.lerobot_dataset import LeRobotDataset
    from lerobot.robots.so_follower import SO101Follower, SO101FollowerConfig
    from lerobot.teleoperators.so_leader import SO101Leader, SO101LeaderConfig

    follower = SO101Follower(SO101FollowerConfig(port=arm_port, id="follower", calibration_dir=folder))
    leader = SO101Leader(SO101LeaderConfig(port=leader_port, id="leader", calibration_dir=folder))
    for device in (follower, leader):
        connect(device)
    names = [f"{joint}.pos" for joint in JOINTS]
    feature = {"dtype": "float32", "shape": (len(names),), "names": names}
    features = {"observation.state": feature, "action": feature}
    dataset = LeRobotDataset.create("local/theirs", fps=30, features=features, root=folder / "theirs", robot_type="so101")
    import numpy

    frames, period = round(30 * seconds), 1 / 30
    begun, cpu = time.monotonic_ns(), time.process_time()
    late = failed = 0
    for _ in range(frames):
        start = time.perf_counter()
        while True:
            # Its record loop ends with the first answer that is late; here it is counted and asked again.
            try:
                seen = follower.get_observation()
                sent = follower.send_action(leader.get_action())
                break
            except ConnectionError:
                failed += 1
        row = lambda values: numpy.array([values[name] for name in names], numpy.float32)
        dataset.add_frame({"observation.state": row(seen), "action": row(sent), "task": "follow"})
        left = period - (time.perf_counter() - start)
        late += left < 0
        time.sleep(max(0.0, left))
    dataset.save_episode()
    told = {"frames": frames, "late": late, "failed": failed, "from": begun, "to": time.monotonic_ns()}
    told["cpu_s"] = time.process_time() - cpu
    follower.disconnect()
    leader.disconnect()
    print(json.dumps(told))


def connect(device, tries=10):
    """On a busy machine one of its pings comes too late, and it asks once only."""
    for left in reversed(range(tries)):
        try:
            return device.connect(calibrate=False)
        except (RuntimeError, ConnectionError):
            if not left:
                raise
            device.bus.port_handler.closePort()


def readings(log, told):
    rows = (line.split(",") for line in log.read_text().splitlines() if line.count(",") == 2)
    times = [int(at) for at, number, _ in rows if number == "1"]
    return [at for at in times if told["from"] <= at <= told["to"]]


def measure(side, told, log, wanted_hz):
    times = readings(log, told)
    gaps = sorted((b - a) * 1e-6 for a, b in zip(times, times[1:]))
    at = lambda share: gaps[min(len(gaps) - 1, int(share * len(gaps)))]
    seconds = (told["to"] - told["from"]) * 1e-9
    off = sorted(abs(gap - 1e3 / wanted_hz) for gap in gaps)
    return {
        "side": side,
        "frames": told["frames"],
        "frame_hz": told["frames"] / seconds,
        "reading_hz": len(times) / seconds,
        "gap_ms": [statistics.median(gaps), at(0.99), gaps[-1]],
        "jitter_ms": [statistics.median(off), off[min(len(off) - 1, int(0.99 * len(off)))]],
        "late": told["late"],
        "failed": told.get("failed", 0),
        "cpu_percent": 100 * told["cpu_s"] / seconds,
    }


def main():
    if "--lerobot" in sys.argv:
        _, _, folder, leader_port, arm_port, seconds = sys.argv
        return lerobot(Path(folder), leader_port, arm_port, float(seconds))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="target/release/citrange")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    bin = str(Path(args.bin).resolve())
    for round_number in range(args.rounds):
        sides = ["ours", "lerobot"] if round_number % 2 == 0 else ["lerobot", "ours"]
        for side in sides:
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                leader, arm = Arm(bin, folder, "leader"), Arm(bin, folder, "follower")
                over = threading.Event()
                hand = threading.Thread(target=move, args=(leader, over))
                hand.start()
                try:
                    if side == "ours":
                        told = ours(bin, folder, leader, arm, args.seconds)
                    else:
                        told = theirs(folder, leader, arm, args.seconds)
                finally:
                    over.set()
                    hand.join()
                    leader.close()
                    arm.close()
                measured = measure(side, told, arm.log, 180 if side == "ours" else 30)
                print(json.dumps({"round": round_number, **measured}), flush=True)


if __name__ == "__main__":
    main()
