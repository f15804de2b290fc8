"""Somebody who drives the arm from the page: looks at it, presses keys, lets them go.

Only what a person has is used: keys of the keyboard, and what the page shows.
"""

import math
import time

# Where a block of 3 cm has to be in the gripper's frame before the jaws close: between them, a
# little nearer to the fixed one, as deep as the tips allow above the table.
BETWEEN_JAWS = (0.011, 0.0, -0.09)
BOX = (0.3, 0.2)
LOOK_EVERY = 0.03


def rotate(quat, vector):
    w, *u = quat
    cross = lambda a, b: (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    t = [2 * c for c in cross(u, vector)]
    return [v + w * a + b for v, a, b in zip(vector, t, cross(u, t))]


class Lost(Exception):
    """The operator gives up."""


class Operator:
    """Two hands on the keyboard of a page that faces +y."""

    def __init__(self, page):
        self.page = page
        self.held = set()
        # The page shows which key does what; this is the same table.
        self.codes = page.evaluate("() => window.citrange.codes")

    def look(self):
        return self.page.evaluate("() => window.citrange.state")

    def hold(self, *names):
        """Holds exactly these keys."""
        wanted = set(names)
        for name in sorted(self.held - wanted):
            self.page.keyboard.up(self.codes[name])
        for name in sorted(wanted - self.held):
            self.page.keyboard.down(self.codes[name])
        self.held = wanted

    def is_braked(self):
        """Whether the arm had to brake, on a busy machine: everything must be let go once."""
        return self.page.evaluate("() => window.citrange.status.brake")

    def stalls(self):
        return self.page.evaluate("() => window.citrange.status.stalls")

    def press(self, key):
        self.hold()
        self.page.keyboard.press(key)

    def until(self, decide, limit_s=20.0, what=""):
        """Looks and holds what `decide` says until it says nothing more."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if self.is_braked():
                self.hold()
                time.sleep(LOOK_EVERY)
                continue
            keys = decide(self.look())
            if keys is None:
                self.hold()
                return
            self.hold(*keys)
            time.sleep(LOOK_EVERY)
        self.hold()
        raise Lost(f"{what}: not done after {limit_s} s, held {keys} at the end")

    # --- the task ---------------------------------------------------------------------------

    def pick_and_drop(self):
        """Picks the block up and drops it into the box. A missed grasp is tried again, as people do."""
        for attempt in range(3):
            try:
                self._pick()
                break
            except Lost:
                if attempt == 2:
                    raise
        self.until(self._carry, what="carry the block")
        self.until(lambda s: None if s["joints"][5] > 0.75 else ["open"], limit_s=4, what="let go")
        time.sleep(0.5)
        self.until(lambda s: None if s["bodies"]["robot0/wrist"][2] > 0.2 else ["up"], limit_s=4, what="withdraw")
        return self.block_in_box()

    def _pick(self):
        self.until(self._raise_open, what="raise the hand")
        self.until(self._turn_to_block, what="turn the gripper to the block")
        self.until(lambda s: self._steer(*self._to_block(s)[:2], 0.002), what="go above the block")
        self.until(self._lowering(), what="lower the hand")
        self._squeeze()
        self.until(lambda s: None if self._block(s)[2] > 0.055 else ["up"], limit_s=4, what="lift the block")

    def block_in_box(self):
        x, y, z = self._block(self.look())
        return abs(x - BOX[0]) < 0.04 and abs(y - BOX[1]) < 0.04 and z < 0.03

    @staticmethod
    def _block(state):
        return state["bodies"]["block"][:3]

    def _to_block(self, state):
        """The way from between the jaws to the block."""
        pos, quat = state["bodies"]["robot0/gripper"][:3], state["bodies"]["robot0/gripper"][3:]
        return [b - p - o for b, p, o in zip(self._block(state), pos, rotate(quat, BETWEEN_JAWS))]

    @staticmethod
    def _steer(x, y, near):
        keys = []
        if abs(x) > near:
            keys.append("right" if x > 0 else "left")
        if abs(y) > near:
            keys.append("forward" if y > 0 else "backward")
        return keys or None

    def _raise_open(self, state):
        keys = []
        if state["bodies"]["robot0/wrist"][2] < 0.225:
            keys.append("up")
        if state["joints"][5] < 0.95:
            keys.append("open")
        return keys or None

    def _turn_to_block(self, state):
        heading = lambda quat: math.atan2(*rotate(quat, (1, 0, 0))[1::-1])
        turn = heading(state["bodies"]["block"][3:]) - heading(state["bodies"]["robot0/gripper"][3:])
        # A square looks the same after a quarter turn.
        turn = (turn + math.pi / 4) % (math.pi / 2) - math.pi / 4
        if abs(turn) < 0.05:
            return None
        return ["roll_left" if turn > 0 else "roll_right"]

    def _lowering(self):
        """Down to the block, or as far as the floor allows: then the hand stands still."""
        heights = []

        def lower(state):
            x, y, z = self._to_block(state)
            heights.append(z)
            keys = self._steer(x, y, 0.003) or []
            stands = len(heights) > 20 and abs(heights[-20] - z) < 0.0005
            if z < -0.002 and not stands:
                keys.append("down")
            return keys or None

        return lower

    def _squeeze(self):
        """Closes until the jaw stands still for a while."""
        history = []

        def closing(state):
            history.append(state["joints"][5])
            still = len(history) > 20 and history[-20] - history[-1] < 0.01
            return None if still else ["close"]

        self.until(closing, limit_s=6, what="close the gripper")

    def _carry(self, state):
        x, y, _ = self._block(state)
        return self._steer(BOX[0] - x, BOX[1] - y, 0.012)
