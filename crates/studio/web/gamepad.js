// A gamepad as seven sticks. It counts only after one of its buttons was pressed in this page,
// so that a pad lying on its side somewhere never drives.

const DEAD_ZONE = 0.15;
const ORDERS = { 0: "success", 1: "failure", 8: "discard", 9: "save" };

export function outside(value) {
  const size = Math.abs(value);
  return size < DEAD_ZONE ? 0 : (Math.sign(value) * Math.min(1, size - DEAD_ZONE)) / (1 - DEAD_ZONE);
}

export class Gamepad {
  constructor({ sticks, order }) {
    Object.assign(this, { sticks, order });
    this.armed = null;
    this.down = new Set();
    this.polling = false;
    // Browsers tell of a pad when one of its buttons is pressed.
    addEventListener("gamepadconnected", () => this.start());
    addEventListener("gamepaddisconnected", (event) => {
      if (event.gamepad.index === this.armed) {
        this.armed = null;
        this.sticks(null);
      }
    });
  }

  start() {
    if (this.polling) return;
    this.polling = true;
    const poll = () => {
      this.polling = navigator.getGamepads().some((pad) => pad?.connected);
      this.poll();
      if (this.polling) requestAnimationFrame(poll);
    };
    requestAnimationFrame(poll);
  }

  // Counts again only after another press.
  rest() {
    this.armed = null;
  }

  poll() {
    if (!document.hasFocus() || document.querySelector("dialog[open]")) {
      if (this.armed !== null) this.sticks(null);
      this.rest();
      return;
    }
    for (const pad of navigator.getGamepads()) {
      if (!pad?.connected) continue;
      pad.buttons.forEach((button, index) => {
        const name = `${pad.index}/${index}`;
        if (!button.pressed) {
          this.down.delete(name);
        } else if (!this.down.has(name)) {
          this.down.add(name);
          if (this.armed === null) this.armed = pad.index;
          else if (this.armed === pad.index && ORDERS[index]) this.order(ORDERS[index]);
        }
      });
      if (pad.index === this.armed) this.read(pad);
    }
  }

  read(pad) {
    const axis = (index) => outside(pad.axes[index] ?? 0);
    const trigger = (index) => outside(pad.buttons[index]?.value ?? 0);
    // Forward, left, up, roll left, open, tilt forward, tilt left.
    const sticks = [-axis(1), -axis(0), -axis(3), -axis(2), trigger(7) - trigger(6), 0, 0];
    this.sticks(sticks.some((value) => value !== 0) ? sticks.map((value) => value || 0) : null);
  }
}
