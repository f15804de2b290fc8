// Targets against positions, one strip per joint, the last 10 seconds.

const SPAN_MS = 10_000;
const SAMPLES = 320;
const PERIOD_MS = 100;
const NAME_PX = 96;
const VALUE_PX = 62;

// What a joint's numbers are shown as: grippers in percent open, the others in degrees
// or millimetres.
function unitOf(joint) {
  if (joint.gripper) {
    const [closed, open] = joint.gripper;
    return { of: (value) => (100 * (value - closed)) / (open - closed), unit: " %", least: 10 };
  }
  if (joint.is_slide) return { of: (value) => 1000 * value, unit: " mm", least: 10 };
  return { of: (value) => (180 * value) / Math.PI, unit: "°", least: 6 };
}

export class Plots {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.joints = [];
    this.clear();
    this.period_ms = PERIOD_MS;
    const again = () => {
      this.draw();
      setTimeout(again, this.period_ms);
    };
    again();
  }

  build(joints) {
    this.joints = joints.map((joint) => ({ name: joint.name, ...unitOf(joint) }));
    this.clear();
  }

  clear() {
    this.samples = [];
    this.dirty = true;
  }

  show(state) {
    if (this.samples.at(-1)?.at > state.server_ms) this.clear();
    this.samples.push({ at: state.server_ms, joints: state.joints, targets: state.targets });
    if (this.samples.length > SAMPLES) this.samples.shift();
    this.dirty = true;
  }

  draw() {
    if (!this.dirty || document.hidden || !this.canvas.clientWidth) return;
    this.dirty = false;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.pen.clearRect(0, 0, width, height);
    this.pen.font = "12px system-ui, sans-serif";
    this.pen.textBaseline = "middle";
    const strip = Math.min(72, height / Math.max(1, this.joints.length));
    this.joints.forEach((joint, index) => this.strip(joint, index, index * strip, strip, width));
  }

  strip(joint, index, top, height, width) {
    const { pen } = this;
    const [left, right] = [NAME_PX, width - VALUE_PX];
    const end = this.samples.at(-1)?.at ?? 0;
    const series = ["targets", "joints"].map((which) =>
      this.samples.map((sample) => joint.of(sample[which][index])).map((v) => (Number.isFinite(v) ? v : null)));
    const all = series.flat().filter((value) => value !== null);
    let [low, high] = [Math.min(...all), Math.max(...all)];
    const missing = Math.max(0, joint.least - (high - low)) / 2;
    [low, high] = [low - missing, high + missing];

    pen.fillStyle = index % 2 ? "#ffffff04" : "#ffffff0a";
    pen.fillRect(left, top, right - left, height - 1);
    pen.fillStyle = "#8d9aa8";
    pen.textAlign = "left";
    pen.fillText(joint.name, 0, top + height / 2, NAME_PX - 6);
    if (!all.length) return;
    const y = (value) => top + 3 + ((high - value) / (high - low)) * (height - 7);
    const x = (at) => right - ((end - at) / SPAN_MS) * (right - left);
    [["#ff9f43", [4, 3]], ["#58a6ff", []]].forEach(([colour, dash], which) => {
      pen.strokeStyle = colour;
      pen.setLineDash(dash);
      pen.lineWidth = 1.4;
      pen.beginPath();
      let down = false;
      this.samples.forEach((sample, at) => {
        const value = series[which][at];
        if (value === null || end - sample.at > SPAN_MS) {
          down = false;
        } else {
          pen[down ? "lineTo" : "moveTo"](x(sample.at), y(value));
          down = true;
        }
      });
      pen.stroke();
    });
    pen.setLineDash([]);
    const now = series[1].at(-1);
    if (now !== null) {
      pen.fillStyle = "#e8edf3";
      pen.textAlign = "right";
      pen.fillText(now.toFixed(1) + joint.unit, width, top + height / 2);
    }
  }
}
