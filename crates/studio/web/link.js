// The connection: messages in and out, reconnecting, and how long messages take.

const LITTLE = true;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4000;

// See wire.rs for the layout.
export function decode(buffer) {
  const data = new DataView(buffer);
  const kind = data.getUint8(0);
  if (kind === 2) {
    return {
      kind: "picture", camera: data.getUint16(2, LITTLE), frame: Number(data.getBigUint64(8, LITTLE)),
      jpeg: new Uint8Array(buffer, 16),
    };
  }
  if (kind !== 1) return null;
  const counts = [2, 4, 6].map((at) => data.getUint16(at, LITTLE));
  const floats = new Float32Array(buffer, 72);
  const [bodies, joints, targets] = counts;
  return {
    kind: "state",
    moment: Number(data.getBigUint64(8, LITTLE)),
    server_ms: data.getFloat64(16, LITTLE),
    time_s: data.getFloat64(24, LITTLE),
    seq: Number(data.getBigUint64(32, LITTLE)),
    late_ticks: Number(data.getBigUint64(40, LITTLE)),
    hand: [48, 52, 56].map((at) => data.getFloat32(at, LITTLE)),
    tilt: data.getFloat32(60, LITTLE),
    loop_hz: data.getFloat32(64, LITTLE),
    worst_late_ms: data.getFloat32(68, LITTLE),
    bodies: floats.subarray(0, 7 * bodies),
    joints: floats.subarray(7 * bodies, 7 * bodies + joints),
    targets: floats.subarray(7 * bodies + joints, 7 * bodies + joints + targets),
  };
}

export class Link {
  // `on` has a function for each of: hello, state, picture, status, seat, error, down.
  constructor(token, on) {
    this.token = token;
    this.on = on;
    this.seq = 0;
    this.latency_ms = null;
    this.wait = FIRST_WAIT_MS;
    this.connect();
  }

  get isUp() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  // Bytes that wait in this browser: the line does not take them.
  get isStalled() {
    return !this.isUp || this.socket.bufferedAmount > 4096;
  }

  connect() {
    clearTimeout(this.timer);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws?token=${encodeURIComponent(this.token)}`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    this.echo = null;
    this.under_way = new Map();
    this.seq = 0;
    socket.onmessage = (event) => this.hear(event.data);
    socket.onclose = (event) => {
      if (this.socket === socket) this.lost(event);
    };
  }

  // Nothing more will come: the session is over.
  end() {
    this.over = true;
    clearTimeout(this.timer);
  }

  async lost(event) {
    if (this.over) return;
    this.latency_ms = null;
    // A refused handshake looks like a server that is gone; asking for the page tells them apart.
    let why = event.reason || "";
    let final = false;
    this.on.down(why, false);
    try {
      const answer = await fetch("/", { method: "HEAD", cache: "no-store", headers: { "citrange-token": this.token } });
      const [open, most] = (answer.headers.get("citrange-viewers") ?? "0/1").split("/").map(Number);
      if (answer.status === 401 || answer.status === 403) {
        why = "This link is out of date: the server was started again. Open the new link it printed.";
        final = true;
      } else if (open >= most) {
        why = `${open} of ${most} pages are open already: there is no room for one more (--max-viewers allows more).`;
      } else if (!this.greeted) {
        why = "The server does not take this connection.";
      }
    } catch {
      why ||= "The server is gone.";
    }
    if (this.over) return;
    this.greeted = false;
    this.on.down(why, final);
    if (final) return;
    this.timer = setTimeout(() => this.connect(), this.wait * (0.75 + 0.5 * Math.random()));
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT_MS);
  }

  hear(data) {
    if (typeof data !== "string") {
      const message = decode(data);
      if (message?.kind === "state") {
        this.echo = { server_ms: message.server_ms, at: performance.now() };
        this.measure(message.seq);
      }
      if (message) this.on[message.kind](message);
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "hello") {
      this.greeted = true;
      this.wait = FIRST_WAIT_MS;
    }
    this.on[message.type]?.(message);
  }

  measure(seq) {
    const sent = this.under_way.get(seq);
    if (sent === undefined) return;
    const took = performance.now() - sent;
    this.latency_ms = this.latency_ms === null ? took : 0.8 * this.latency_ms + 0.2 * took;
    for (const older of this.under_way.keys()) {
      if (older <= seq) this.under_way.delete(older);
    }
  }

  stamp() {
    return { echo: this.echo.server_ms, since: performance.now() - this.echo.at };
  }

  send(message) {
    if (!this.isUp) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  // What is held. A release always goes out; anything else only on a line that takes it, so that
  // no old key waits here.
  keys(held, sticks) {
    const nothing = held.length === 0 && !sticks;
    if (!this.isUp || !this.echo || (this.isStalled && !nothing)) return false;
    const message = { type: "keys", seq: ++this.seq, ...this.stamp(), held };
    if (sticks) message.sticks = sticks;
    if (this.under_way.size < 100) this.under_way.set(this.seq, performance.now());
    return this.send(message);
  }

  // Somebody is here, holding nothing. Said only on a line that takes it at once.
  here() {
    return !this.isStalled && this.keys([], null);
  }

  // Sends the autopilot to a target, by its number; 0 is all of them.
  fly(target) {
    return this.echo !== null && !this.isStalled && this.send({ type: "fly", target, ...this.stamp() });
  }

  order(order) {
    return this.echo !== null && this.send({ type: "order", order, ...this.stamp() });
  }
}
