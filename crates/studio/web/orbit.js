// An eye that turns around a point: drag to turn, right or shift drag to shift, wheel or pinch to
// come nearer, double click to go back. z is up.

const NEAREST_M = 0.08;
const FARTHEST_M = 30;

export class Orbit {
  constructor(element, changed) {
    this.changed = changed;
    this.pointers = new Map();
    this.home([0, 0, 0.1], [0.6, -0.6, 0.5]);
    element.addEventListener("pointerdown", (event) => {
      element.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    element.addEventListener("pointermove", (event) => this.move(event, element));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      element.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.nearer(Math.exp(0.0012 * Math.max(-400, Math.min(400, event.deltaY))));
    }, { passive: false });
    element.addEventListener("dblclick", () => this.home(...this.start));
    element.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  home(at, from) {
    this.start = [at, from];
    this.at = [...at];
    const [x, y, z] = from.map((value, axis) => value - at[axis]);
    this.far = Math.min(FARTHEST_M, Math.max(NEAREST_M, Math.hypot(x, y, z)));
    this.turn = Math.atan2(y, x);
    this.rise = Math.atan2(z, Math.hypot(x, y));
    this.changed(this);
  }

  nearer(factor) {
    this.far = Math.min(FARTHEST_M, Math.max(NEAREST_M, this.far * factor));
    this.changed(this);
  }

  move(event, element) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const span = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      this.nearer(span(before) / span(now));
      this.shift(dx / 2, dy / 2, element);
    } else if (event.shiftKey || event.buttons & 6) {
      this.shift(dx, dy, element);
    } else {
      this.turn -= 0.006 * dx;
      this.rise = Math.min(1.55, Math.max(-0.4, this.rise + 0.006 * dy));
    }
    this.pointers.set(event.pointerId, now);
    this.changed(this);
  }

  shift(dx, dy, element) {
    const scale = (0.8 * this.far) / element.clientHeight;
    const [sin, cos] = [Math.sin(this.turn), Math.cos(this.turn)];
    const up = Math.sin(this.rise);
    this.at[0] += scale * (sin * dx - cos * up * dy);
    this.at[1] += scale * (-cos * dx - sin * up * dy);
    this.at[2] += scale * Math.cos(this.rise) * dy;
  }

  // Where the eye is.
  from() {
    const flat = this.far * Math.cos(this.rise);
    return [
      this.at[0] + flat * Math.cos(this.turn),
      this.at[1] + flat * Math.sin(this.turn),
      this.at[2] + this.far * Math.sin(this.rise),
    ];
  }
}
