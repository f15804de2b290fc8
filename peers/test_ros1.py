"""Our ROS 1 beside the real one: rosmaster, rospy, actionlib, genpy of Debian. Each test has a master
of its own on a free port; with CITRANGE_ROS_TIMES=20 faults are injected so often, at random moments."""
import json
import os
import random
import signal
import socket
import subprocess
import time
import xmlrpc.client
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "ros1"
MODULES = os.environ["CITRANGE_ROS1_MODULES"]
BUILT = Path(os.environ["CITRANGE_BIN"]).parent
PYTHON = "/usr/bin/python3"
TIMES = int(os.environ.get("CITRANGE_ROS_TIMES", "1"))


class Ros:
    """A master and the processes around it."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.running = folder, []
        drop = {"ROS_HOSTNAME", "ROS_IPV6"}
        self.env = {k: v for k, v in os.environ.items() if k not in drop}
        self.env |= {"ROS_MASTER_URI": f"http://127.0.0.1:{self.port}", "ROS_IP": "127.0.0.1",
                     "ROS_LOG_DIR": str(folder), "ROS_HOME": str(folder), "PYTHONPATH": MODULES, "PYTHONUNBUFFERED": "1"}
        self.master = self.start_master()

    def start_master(self):
        master = self.run([PYTHON, "/usr/bin/rosmaster", "--core", "-p", str(self.port)])
        end = time.time() + 30
        while time.time() < end:
            try:
                xmlrpc.client.ServerProxy(self.env["ROS_MASTER_URI"]).getPid("/test")
                return master
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the master did not come")

    def run(self, words, **options):
        process = subprocess.Popen([str(w) for w in words], env=self.env, cwd=self.folder, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=open(self.folder / f"stderr_{len(self.running)}", "w"), **options)
        self.running.append(process)
        return process

    def ur(self, *options):
        process = self.run([PYTHON, HERE / "fake_ur.py", "--hz", "60", *options])
        until(process, "ready")
        return process

    def goals(self, *words):
        return Told(self.run([BUILT / "examples/ros1_goals", *words]))

    def end(self):
        for process in reversed(self.running):
            process.kill()
            process.wait()


@pytest.fixture
def ros(tmp_path):
    own = Ros(tmp_path)
    yield own
    own.end()


def until(process, word):
    for line in process.stdout:
        if line.strip() == word:
            return
    raise AssertionError(f"{word} never came: {process.args}")


class Told:
    """Lines of a program as they come."""

    def __init__(self, process):
        self.process, self.lines = process, []
        os.set_blocking(process.stdout.fileno(), False)
        self.rest = ""

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait(self, word, within=15.0):
        """The first line not yet looked at that begins with a word: its seconds and its rest."""
        end = time.time() + within
        while time.time() < end:
            try:
                self.rest += os.read(self.process.stdout.fileno(), 65536).decode()
            except BlockingIOError:
                pass
            *whole, self.rest = self.rest.split("\n")
            self.lines += whole
            while self.lines:
                words = self.lines.pop(0).split(" ", 2)
                if words[0] == word:
                    return float(words[1]), words[2] if len(words) > 2 else ""
            time.sleep(0.005)
        raise AssertionError(f"no {word} in {within} s")


def test_messages_come_back_byte_for_byte(ros):
    relay = ros.run([BUILT / "examples/ros1_relay"])
    types = []
    for line in relay.stdout:
        if "ready" in json.loads(line):
            break
        types.append(line)
    (ros.folder / "types").write_text("".join(types))
    out = subprocess.run([PYTHON, HERE / "messages.py", ros.folder / "types", "20"], env=ros.env, text=True,
                         capture_output=True, timeout=120)
    told = json.loads(out.stdout.splitlines()[-1]) if out.stdout else pytest.fail(out.stderr)
    assert told["wrong"] == [] and told["equal"] == 20 * len(types) and told["types"] == len(types) == 15
    assert told["pressed"] == [True, "pressed"]


@pytest.mark.parametrize("options, orders, end", [
    ([], ["goal 0.6"], "Succeeded"),
    ([], ["nan"], "Rejected { code: -1"),
    ([], ["names"], "Rejected { code: -2"),
    (["--not-running"], ["goal 0.6"], "Rejected { code: -1"),
    (["--stall", "0.2"], ["goal 1.0"], "Aborted { code: -4"),
    (["--short"], ["goal 0.6"], "Aborted { code: -5"),
    (["--mute-result"], ["goal 0.6"], "ResultLost { status: Some(Succeeded) }"),
    (["--scale", "0.3"], ["goal 0.6"], "Succeeded"),
])
def test_goals_end_as_the_controller_says(ros, options, orders, end):
    ros.ur(*options)
    goals = ros.goals()
    goals.wait("ready")
    for order in orders:
        goals.say(order)
    after, how = goals.wait("finished")
    assert how.startswith(end), how
    if "--mute-result" in options:
        assert 1.4 < after < 3.0, "0.6 s of motion and a second of patience"


def test_a_goal_is_cancelled_replaced_and_taken_over(ros):
    ros.ur()
    ours, other = ros.goals(), ros.goals()
    ours.wait("ready"), other.wait("ready")
    ours.say("goal 5")
    ours.wait("accepted")
    ours.say("cancel")
    after, how = ours.wait("finished")
    assert how == "Preempted" and after < 0.5
    ours.say("goal 5")
    ours.wait("accepted")
    ours.say("goal 5")
    assert ours.wait("finished")[1] == "Preempted"
    other.say("goal 1")
    assert ours.wait("finished")[1] == "TakenOver"
    assert other.wait("finished")[1] == "Succeeded"


@pytest.mark.parametrize("turn", range(TIMES))
def test_master_driver_and_silence_come_and_go(ros, turn):
    """Failure modes 1 to 4: at moments that chance chooses."""
    chance = random.Random(turn)
    driver = ros.ur()
    goals = ros.goals()
    goals.wait("ready")
    # The master dies: data goes on, and goals are carried out.
    ros.master.kill()
    goals.wait("master_lost", 5)
    goals.say("goal 0.6")
    assert goals.wait("finished")[1] == "Succeeded"
    # It comes back, and the driver after it: found without a restart of ours.
    ros.master = ros.start_master()
    goals.wait("master_back", 5)
    goals.say("goal 5")
    goals.wait("accepted")
    time.sleep(chance.uniform(0.0, 1.0))
    driver.kill()
    killed = time.time()
    assert goals.wait("finished", 3)[1] == "ServerGone"
    assert time.time() - killed < 0.4
    goals.wait("silence", 3)
    driver = ros.ur()
    goals.wait("ready", 15)
    # It hangs in the middle of a goal, and goes on.
    goals.say("goal 4")
    goals.wait("accepted")
    time.sleep(chance.uniform(0.0, 1.0))
    driver.send_signal(signal.SIGSTOP)
    goals.wait("silence", 3)
    goals.wait("doubtful", 3)
    time.sleep(chance.uniform(0.0, 0.5))
    driver.send_signal(signal.SIGCONT)
    goals.wait("sure", 3)
    assert goals.wait("finished", 15)[1] == "Succeeded"


def test_who_takes_our_name_and_who_ends_us(ros):
    ros.ur()
    goals = ros.goals()
    goals.wait("ready")
    server = xmlrpc.client.ServerProxy(ros.env["ROS_MASTER_URI"])
    state = server.getSystemState("/test")[2]
    ours = next(name for topic, names in state[1] for name in names if name.startswith("/goals_"))
    # Another node under our name: the master tells us to leave.
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server.registerPublisher(ours, "/other", "std_msgs/String", f"http://127.0.0.1:{free.getsockname()[1]}/")
    assert goals.wait("name_taken", 5)[1].startswith("/goals_")
    # All five connections are made again under the new name, or stayed.
    time.sleep(1.0)
    goals.say("goal 0.6")
    assert goals.wait("finished")[1] == "Succeeded"


def test_the_real_client_moves_our_stand_in(ros):
    ours = ros.run([os.environ["CITRANGE_BIN"], "rig", "emulate", "ur5e", "--ros1", "--cameras", "depth", "--json"])
    ready = json.loads(ours.stdout.readline())
    assert ready["event"] == "ready" and not ready["own_master"], "the real master was there"
    out = subprocess.run([PYTHON, HERE / "client.py"], env=ros.env, text=True, capture_output=True, timeout=120)
    told = {t["what"]: t for t in map(json.loads, out.stdout.splitlines())}
    assert "seen" in told, out.stderr
    ends = {what: (t["status"], t["code"]) for what, t in told.items() if what != "seen"}
    assert ends == {"executed": (3, 0), "cancelled": (2, 0), "not a number": (5, -1), "wrong names": (5, -2),
                    "taken over": (2, 0), "took over": (3, 0)}
    seen = told["seen"]
    assert abs(seen["moved"] - 0.4) < 0.01
    assert seen["names"] == sorted(seen["names"]), "as drivers publish them"
    assert seen["tf"] == ["tool0_controller"] and sorted(seen["depth"]) == ["16UC1", "rgb8"]


def test_the_check_of_a_rig_knows_what_is_wrong(ros):
    def check():
        out = subprocess.run([os.environ["CITRANGE_BIN"], "rig", "check", "ros1:ur5e", "--json"], env=ros.env, text=True,
                             capture_output=True, timeout=60)
        return out, {f["check"]: f for f in json.loads(out.stdout).get("findings", json.loads(out.stdout).get("checks", []))} if out.stdout else {}

    driver = ros.ur("--not-running")
    out, found = check()
    assert "press play" in out.stdout, out.stdout + out.stderr
    driver.kill()
    ros.ur("--drop", "elbow_joint")
    out, _ = check()
    assert "elbow_joint" in out.stdout + out.stderr
