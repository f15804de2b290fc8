"""The real lerobot's SO-101 classes, unmodified, on our emulated servo bus; its files and units are ours."""

import builtins
import json
import os
import subprocess
import threading
import time
from pathlib import Path

import lerobot_real
import pytest
from lerobot.motors import MotorNormMode
from lerobot.robots.so_follower import SO101Follower, SO101FollowerConfig
from lerobot.teleoperators.so_leader import SO101Leader, SO101LeaderConfig

BIN = os.environ["CITRANGE_BIN"]
JOINTS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]


class Arm:
    """`citrange rig emulate so101`, in a process of its own."""

    def __init__(self, folder, *args):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        words = [BIN, "rig", "emulate", "so101", "--json", "--attached", "--calibration", self.folder / "arm.json", *args]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())["port"]

    def order(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["event"] == "order", answer
        return answer["arm"]["servos"]

    def config(self, kind, **more):
        return kind(port=self.port, id="arm", calibration_dir=self.folder, **more)

    def close(self):
        self.process.terminate()
        assert self.process.wait(10) == 0


@pytest.fixture
def arm(tmp_path):
    arm = Arm(tmp_path / "follower")
    yield arm
    arm.close()


def units(folder, calibration):
    """What our link makes of every count, and the calibration that it wrote again."""
    example = Path(BIN).parent / "examples" / "lerobot_units"
    again = folder / "again.json"
    told = subprocess.run([example, calibration, again], check=True, capture_output=True, text=True).stdout
    return {line["motor"]: line for line in map(json.loads, told.splitlines())}, again


def until(what, seconds=20):
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def test_lerobot_connects_reads_and_moves_the_arm(arm):
    robot = SO101Follower(arm.config(SO101FollowerConfig))
    robot.connect(calibrate=False)
    assert robot.is_calibrated, "our file is the servos'"
    seen = robot.get_observation()
    ours, _ = units(arm.folder, arm.folder / "arm.json")
    for servo, name in zip(arm.order("look"), JOINTS):
        kind = "gripper" if name == "gripper" else "degrees"
        # The arm moves a little while it is looked at twice.
        assert abs(seen[f"{name}.pos"] - ours[name][kind][servo["position"]]) < 0.3, (name, seen, servo)
        assert servo["torque"]
    goal = {f"{name}.pos": value for name, value in zip(JOINTS, [20, -15, 10, 5, -30, 60])}
    robot.send_action(goal)
    near = lambda: all(abs(robot.get_observation()[key] - value) < 2.5 for key, value in goal.items())
    until(near)
    robot.disconnect()
    assert not any(servo["torque"] for servo in arm.order("look"))


@pytest.mark.parametrize("degrees", [True, False])
def test_units_are_lerobots_over_all_counts(arm, degrees):
    robot = SO101Follower(arm.config(SO101FollowerConfig, use_degrees=degrees))
    robot.bus.calibration = robot.calibration
    ours, _ = units(arm.folder, arm.folder / "arm.json")
    for name in JOINTS:
        motor = robot.bus.motors[name]
        kind = {
            MotorNormMode.DEGREES: "degrees",
            MotorNormMode.RANGE_M100_100: "percent",
            MotorNormMode.RANGE_0_100: "gripper",
        }[motor.norm_mode]
        for count in range(4096):
            theirs = robot.bus._normalize({motor.id: count})[motor.id]
            assert abs(theirs - ours[name][kind][count]) < 1e-9, (name, kind, count)
            if kind == "degrees":
                # It cuts towards 0 where ours is the nearest.
                back = robot.bus._unnormalize({motor.id: theirs})[motor.id]
                assert back in (count, count - 1) and ours[name]["from_degrees"][count] == count


def test_lerobots_calibration_is_ours_and_back(tmp_path, monkeypatch):
    arm = Arm(tmp_path / "arm", "--uncalibrated")
    (tmp_path / "arm/arm.json").unlink()
    middle = {servo["id"]: round(servo["counts"]) for servo in arm.order("look")}
    for number, count in middle.items():
        arm.order(f"turn {number} {count}")
    done = threading.Event()

    def answers(prompt=""):
        if "middle" in prompt:
            return ""
        raise AssertionError(prompt)

    monkeypatch.setattr(builtins, "input", answers)
    # The ranges are recorded until somebody presses ENTER: when every joint has been moved.
    monkeypatch.setattr("lerobot.motors.motors_bus.enter_pressed", done.is_set)

    def moves():
        for away in (-400, 300):
            for number, count in middle.items():
                arm.order(f"turn {number} {count + away}")
            time.sleep(1.5)
        done.set()

    robot = SO101Follower(arm.config(SO101FollowerConfig))
    hand = threading.Thread(target=moves)
    robot.bus.connect()
    hand.start()
    robot.calibrate()
    hand.join()
    robot.bus.disconnect(True)
    written = tmp_path / "arm/arm.json"
    found = json.loads(written.read_text())
    assert list(found) == JOINTS
    for name, motor in found.items():
        offset = middle[motor["id"]] - 2047
        assert abs(motor["homing_offset"] - offset) < 40, (name, motor, offset)
        wide = 4095 if name == "wrist_roll" else 500
        assert motor["range_max"] - motor["range_min"] >= wide, (name, motor)
    _, again = units(tmp_path, written)
    assert again.read_bytes() == written.read_bytes()
    arm.close()


def test_a_leader_of_lerobot_is_read_and_never_held(tmp_path):
    arm = Arm(tmp_path / "leader")
    leader = SO101Leader(arm.config(SO101LeaderConfig))
    leader.connect(calibrate=False)
    assert leader.is_calibrated
    before = leader.get_action()
    count = round(arm.order("look")[0]["counts"])
    arm.order(f"turn 1 {count + 300}")
    until(lambda: abs(leader.get_action()["shoulder_pan.pos"] - before["shoulder_pan.pos"]) > 20)
    assert not any(servo["torque"] for servo in arm.order("look")[:5])
    leader.disconnect()
    arm.close()


def test_a_set_collected_on_a_linked_arm_has_no_problems(tmp_path):
    scene = (Path(__file__).parent.parent / "scenes/orange_plate.yaml").read_text()
    for fovy in ("fovy_deg: 52.94", "fovy_deg: 60"):
        scene = scene.replace(fovy, f"{fovy}, width_px: 64, height_px: 48")
    small = tmp_path / "small.yaml"
    small.write_text(scene)
    socket = tmp_path / "arm.sock"
    arm = Arm(tmp_path / "arm", "--scene", small, "--socket", socket)
    words = [BIN, "collect", small, "--rig", f"so101:{arm.port}", "--calibration", arm.folder / "arm.json"]
    words += ["--things", socket, "--camera", f"front=emulated:{socket}@10", "--targets", "1"]
    words += ["--episodes", "2", "--seconds", "3", "--out", tmp_path / "set"]
    subprocess.run(words, check=True, timeout=120)
    assert lerobot_real.problems(tmp_path / "set") == []
    arm.close()
