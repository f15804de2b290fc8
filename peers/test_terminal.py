"""`citrange drive --tui` in a real pseudo-terminal: a plain one, and one that tells of releases."""

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import contextlib
import fcntl
import termios
import threading
import time
from pathlib import Path

import pytest
from drive import Browser

CITRANGE = os.environ["CITRANGE_BIN"]


class Terminal:
    """A terminal with a program in it; answers the questions that programs ask terminals."""

    def __init__(self, folder, *args, kitty=False):
        self.kitty, self.text, self.open = kitty, "", True
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ["TERM"] = "xterm-256color"
            with contextlib.suppress(OSError):
                os.nice(-20)  # A loop that drives an arm goes first, where the system lets it.
            os.execv(CITRANGE, [CITRANGE, "drive", "--tui", *args])
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while self.open:
            if not select.select([self.master], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self.master, 65536).decode(errors="replace")
            except OSError:
                break
            if "\x1b[?u" in data and self.kitty:
                os.write(self.master, b"\x1b[?0u")
            if "\x1b[c" in data:
                os.write(self.master, b"\x1b[?62;c")
            self.text = (self.text + data)[-200000:]

    def type(self, text):
        os.write(self.master, text.encode())

    def find(self, pattern):
        """The newest match on the screen."""
        found = re.findall(pattern, self.text)
        return found[-1] if found else None

    def wait_for(self, pattern, limit_s=20):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if found := self.find(pattern):
                return found
            time.sleep(0.02)
        raise AssertionError(f"{pattern} did not appear: {self.text[-2000:]!r}")

    def height(self):
        """Height of the hand in mm, as the screen says now."""
        return float(self.find(r"hand +[-\d.]+ +[-\d.]+ +([-\d.]+) mm"))

    def stalls(self):
        return int(self.find(r"([\d]+) stalls"))

    def seconds(self):
        """Seconds of driving by the arm's own clock: on a busy machine late ticks are skipped."""
        return float(self.find(r"driving \(not recorded\) +([\d.]+) s"))

    def moved_by(self, act):
        """How far the hand rises by what is done, and how long that took by the arm's own clock. When
        the arm had to brake meanwhile (a busy machine), it is done again."""
        for _ in range(6):
            stalls, before = self.stalls(), self.rest()
            clock, begun = self.seconds(), time.monotonic()
            held_s = act()
            after = self.rest()
            pace = (self.seconds() - clock) / (time.monotonic() - begun)
            if self.stalls() == stalls:
                return after - before, held_s * min(pace, 1.0)
        raise AssertionError("the machine is too busy")

    def rest(self, limit_s=4):
        """Height of the hand in mm once it stands still for half a second."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            before, drawn = self.height(), len(self.text)
            time.sleep(0.5)
            if abs(self.height() - before) <= 0.1 and len(self.text) != drawn:
                return self.height()
        raise AssertionError(f"the hand does not come to rest: {self.height()} mm")

    def end(self, limit_s=20):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.open = False
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError("it does not end")


def said(folder, *words):
    """What a command says as JSON."""
    done = subprocess.run([CITRANGE, *words, "--json"], cwd=folder, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_a_plain_terminal_moves_in_steps_and_says_so(tmp_path):
    terminal = Terminal(tmp_path, "block_box", "--cameras", "none")
    terminal.wait_for("hand +[-\\d.]+")
    assert terminal.find("every press is a short step")

    def press():
        terminal.type("q")
        return 0.0

    def press_on():
        begun = time.monotonic()
        while time.monotonic() - begun < 1.0:
            terminal.type("q")
            time.sleep(0.04)
        return time.monotonic() - begun

    one, _ = terminal.moved_by(press)
    assert 2 < one < 9, "one press is one short step"
    moved, held_s = terminal.moved_by(press_on)
    assert 0.75 * 40 * held_s < moved < 15 + 40 * held_s, "a held key goes on at the full speed of 40 mm/s"
    terminal.type("\x1b")
    assert terminal.end() == 0


def test_a_terminal_that_tells_releases_holds_keys(tmp_path):
    terminal = Terminal(tmp_path, "block_box", "--cameras", "none", kitty=True)
    terminal.wait_for("hold keys to move")

    def hold(key, seconds, release):
        def act():
            begun = time.monotonic()
            terminal.type(f"\x1b[{key};1:1u")
            time.sleep(seconds)
            terminal.type(release)
            return time.monotonic() - begun

        return act

    moved, held_s = terminal.moved_by(hold(113, 0.6, "\x1b[113;1:3u"))
    assert moved == pytest.approx(held_s * 40, abs=6)
    # A terminal that is gone says nothing: the arm stops by itself after 0.7 s.
    moved, held_s = terminal.moved_by(hold(113, 0.75, ""))
    assert moved == pytest.approx(0.7 * 40 * held_s / 0.75, abs=6)
    # Losing the focus lets go.
    moved, held_s = terminal.moved_by(hold(101, 0.2, "\x1b[O"))
    assert -moved == pytest.approx(held_s * 40, abs=6)
    terminal.type("\x1b[27;1:1u")
    assert terminal.end() == 0


def test_episodes_are_recorded_judged_and_thrown_away(tmp_path):
    args = ["block_box", "--record", "set", "--cameras", "none", "--countdown", "0.2", "--reset-time", "0.2"]
    terminal = Terminal(tmp_path, *args, "--episodes", "3")
    # Left arrow, Enter, Backspace, right arrow.
    for number, key in enumerate(["\x1b[D", "\r", "\x7f", "\x1b[C"]):
        terminal.wait_for("RECORDING")
        terminal.text = ""
        for _ in range(10):
            terminal.type("qo" if number % 2 else "qc")
            time.sleep(0.04)
        time.sleep(0.2)
        terminal.text = ""
        terminal.type(key)
    assert terminal.end() == 0
    assert "3 episodes saved, 1 thrown away" in terminal.text
    # What was saved, where, and what next.
    assert "The session is over: 3 episodes are saved" in terminal.text
    assert "episode 2: " in terminal.text and f"in {tmp_path}/set" in terminal.text
    assert "citrange data check set" in terminal.text
    outcomes = [episode["outcome"] for episode in said(tmp_path, "data", "list", "set")["episodes"]]
    assert [(o["success"], o["reason"]) for o in outcomes] == [(True, "success"), (False, "failure"), (None, "saved")]
    report = said(tmp_path, "replay", "set", "--verify")
    assert report["differing"] == 0 and len(report["episodes"]) == 3


def test_a_hangup_keeps_what_was_recorded(tmp_path):
    terminal = Terminal(tmp_path, "block_box", "--record", "set", "--cameras", "none", "--countdown", "0")
    terminal.wait_for("RECORDING")
    time.sleep(0.5)
    terminal.open = False
    terminal.thread.join()
    os.close(terminal.master)
    terminal.end()
    (episode,) = said(tmp_path, "data", "list", "set")["episodes"]
    assert episode["frames"] >= 10 and episode["outcome"]["reason"] == "stopped"
    assert said(tmp_path, "replay", "set", "--verify")["differing"] == 0


def test_the_screen_shows_the_link_and_a_page_can_stop_the_arm(tmp_path):
    terminal = Terminal(tmp_path, "block_box", "--cameras", "none", "--listen", "127.0.0.1:0")
    link = terminal.wait_for(r"page: (http://127\.0\.0\.1:\d+/\?token=\w+)")
    with Browser() as browser:
        page = browser.open(link)
        page.get_by_role("button", name="Stop the arm").click()
        terminal.wait_for("STOPPED by viewer 1")
        before = terminal.rest()
        terminal.type("q")
        assert terminal.rest() == pytest.approx(before, abs=0.5), "the wheel has to be taken anew"
        terminal.type("t")
        page.wait_for_function("() => window.citrange.status.driver === 'the terminal'", timeout=20000)
    terminal.type("q")
    assert terminal.rest() - before > 2
    terminal.type("\x1b")
    assert terminal.end() == 0


def test_an_episode_that_lost_its_pictures_is_asked_about(tmp_path):
    """Its camera's pictures are far too large to be drawn in time."""
    scene = (Path(__file__).parent.parent / "scenes" / "block_box.yaml").read_text()
    scene, changed = re.subn(r"(top: \{.*?fovy_deg: 60)\}", r"\1, width_px: 3840, height_px: 2160}", scene)
    assert changed == 1
    (tmp_path / "slow.yaml").write_text(scene)
    terminal = Terminal(tmp_path, "slow.yaml", "--record", "set", "--cameras", "top", "--countdown", "0", "--episodes", "1",
                        "--ask-time", "600")  # fmt: skip
    terminal.wait_for(r"% LOST", limit_s=120)
    terminal.type("\r")
    terminal.wait_for(r"KEEP IT", limit_s=120)
    terminal.wait_for(r"Enter keeps the episode", limit_s=60)
    time.sleep(1.2)  # An Enter that repeats is no answer.
    terminal.type("\r")
    assert terminal.end(limit_s=120) == 0
    assert "of its pictures lost" in terminal.text
    (episode,) = said(tmp_path, "data", "list", "set")["episodes"]
    assert episode["outcome"]["success"] is True
