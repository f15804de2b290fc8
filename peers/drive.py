"""`citrange drive` and a real Chromium in front of it."""

import contextlib
import json
import os
import select
import shutil
import socket
import subprocess
import threading
import time

import pytest
from playwright.sync_api import sync_playwright

CITRANGE = os.environ["CITRANGE_BIN"]
# Chromium draws 3D on the processor here; it must not take the arm's.
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic"]  # fmt: skip
READY = "() => window.citrange && window.citrange.ready && window.citrange.state && window.citrange.state.bodies"


class Drive:
    """A running `citrange drive --json`."""

    def __init__(self, folder, *args):
        # A loop that drives an arm goes first, where the system lets it; where not, nice says so and goes on.
        command = ["nice", "-n", "-20", CITRANGE, "drive", *args, "--json", "--listen", "127.0.0.1:0"]
        self.events = []
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.link = self.wait_for("serving")["link"]

    def _read(self):
        for line in self.process.stdout:
            self.events.append(json.loads(line))

    def of(self, kind):
        return [e for e in self.events if e["event"] == kind]

    def wait_for(self, kind, count=1, limit_s=30):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            found = self.of(kind)
            if len(found) >= count:
                return found[count - 1]
            assert self.process.poll() is None or self.reader.is_alive(), f"it ended: {self.process.returncode}"
            time.sleep(0.02)
        raise AssertionError(f"no {kind} event number {count} in {limit_s} s: {self.events}")

    def end(self):
        """Waits for its own end; answers its last words."""
        assert self.process.wait(timeout=30) == 0
        self.reader.join(timeout=10)
        return self.of("end")[0]

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Browser:
    """A real Chromium."""

    def __enter__(self):
        self.playwright = sync_playwright().start()
        nice = os.nice(0)
        path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        assert path, "Chromium is not installed"
        self.path = path
        self.browser = self.playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        # Children inherit it: Chromium gives way to the control loop.
        subprocess.run(["sh", "-c", f"renice -n {nice + 10} -p $(pgrep -d ' ' chromium) >/dev/null 2>&1 || true"])
        return self

    def __exit__(self, *_):
        self.browser.close()
        self.playwright.stop()

    def close_pages(self):
        for context in self.browser.contexts:
            context.close()

    def open(self, link, before="", size=(1280, 800), **context):
        viewport = {"width": size[0], "height": size[1]}
        page = self.browser.new_context(viewport=viewport, **context).new_page()
        page.add_init_script(before)
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.goto(link)
        page.wait_for_function(READY, timeout=20000)
        return page


@pytest.fixture(scope="module")
def one_browser():
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(one_browser):
    yield one_browser
    # Every page draws: those that are done must not slow the next test down.
    one_browser.close_pages()


def take_wheel(page):
    page.get_by_role("button", name="Take the wheel").click()
    page.wait_for_function("() => window.citrange.status.you_drive", timeout=20000)


class Cable:
    """A connection that can be cut: everything stays open, nothing goes through any more."""

    def __init__(self, port):
        self.target, self.cut = port, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self._carry, args=(near, far), daemon=True).start()

    def _carry(self, near, far):
        ways = {near: far, far: near}
        with near, far, contextlib.suppress(OSError):
            while True:
                for source in select.select([near, far], [], [], 0.05)[0]:
                    if self.cut:
                        time.sleep(0.05)
                        continue
                    data = source.recv(65536)
                    if not data:
                        return
                    ways[source].sendall(data)


# Collects what the page is told, with the wall clock of the machine.
WATCH = """() => {
  const seen = []; let last = -1;
  window.seen = seen;
  setInterval(() => {
    const s = window.citrange.state;
    if (s && s.time_s !== last) {
      last = s.time_s;
      seen.push({wall: (performance.timeOrigin + performance.now()) / 1000, time: s.time_s,
                 wrist: s.bodies['robot0/wrist'].slice(0, 3), gripper: s.bodies['robot0/gripper']});
    }
  }, 5);
}"""
