// What is held, and the dead man's grip: as long as something is held the server hears of it every
// 40 ms, and everything is let go the moment this page might not notice a key going up. The same
// holds for an autopilot that was sent from here: it is stopped when this page might not be seen.

import { Gamepad } from "./gamepad.js";
import { KeyTable } from "./keys.js";

const REPEAT_MS = 40;
const RELEASES = 3;
// After this the server must have said that the autopilot works.
const SENT_MS = 500;
// A key that also had to take the wheel counts when that was given so soon.
const WHEEL_MS = 1000;

export class Drive {
  // `may` says whether this page drives, `want` asks for the wheel, `changed` shows what is held,
  // `halt` stops the arm whoever drives.
  constructor(link, { may, want, changed, order, halt }) {
    Object.assign(this, { link, may, want, changed, order, halt });
    this.targets = 0;
    // An autopilot works for this page, as far as it knows.
    this.flying = false;
    this.sent_at = -Infinity;
    this.wanted = null;
    this.codes = new Map();
    this.pointers = new Map();
    this.sticks = null;
    this.keys = new KeyTable([], []);
    this.releases = 0;
    this.gamepad = new Gamepad({
      sticks: (sticks) => this.setSticks(sticks),
      order: (order) => this.give(order),
    });

    addEventListener("keydown", (event) => this.keyDown(event));
    addEventListener("keyup", (event) => this.keyUp(event));
    addEventListener("blur", () => this.lookAway("focus"));
    addEventListener("pagehide", () => this.lookAway("hidden"));
    addEventListener("contextmenu", (event) => {
      if (!event.defaultPrevented) this.lookAway("focus");
    });
    document.addEventListener("freeze", () => this.lookAway("hidden"));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.lookAway("hidden");
    });
    document.addEventListener("fullscreenchange", () => this.releaseAll());
  }

  // The table of keys, and as many targets as the autopilot has.
  setKeys(keys, targets) {
    this.keys = keys;
    this.targets = targets;
    this.flying = false;
  }

  // Sends the autopilot; 0 is for all targets.
  fly(target) {
    if (!this.may()) {
      this.wanted = { target, at: performance.now() };
      this.want();
    } else if (this.link.fly(target)) {
      this.flying = true;
      this.sent_at = performance.now();
      this.start();
    }
  }

  // The wheel was given: what was pressed for it counts. That nothing is held is told too: after a
  // stop the arm waits for it before it obeys again.
  mayNow() {
    const { wanted } = this;
    this.wanted = null;
    this.moved();
    if (!this.holdsSomething && wanted && performance.now() - wanted.at < WHEEL_MS) {
      this.fly(wanted.target);
    }
  }

  // What the server says of the autopilot.
  setFlying(is_flying) {
    if (!is_flying && performance.now() - this.sent_at < SENT_MS) return;
    this.flying = is_flying && this.may();
    if (this.flying) this.start();
  }

  stop(why = "asked") {
    if (!this.flying) return;
    this.link.send({ type: "halt", why });
    this.flying = false;
    this.sent_at = -Infinity;
  }

  // Nobody may be looking any more.
  lookAway(why) {
    this.stop(why);
    this.releaseAll();
  }

  held() {
    const names = new Set([...this.codes.values(), ...this.pointers.values()]);
    return [...names].filter((name) => this.keys.byName.has(name));
  }

  get holdsSomething() {
    return this.codes.size > 0 || this.pointers.size > 0 || this.sticks !== null;
  }

  isOurs(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return false;
    if (document.querySelector("dialog[open]")) return false;
    const target = event.target;
    if (target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]")) return false;
    // A focused button keeps its own keys.
    return !(target instanceof HTMLButtonElement && (event.code === "Enter" || event.code === "Space"));
  }

  keyDown(event) {
    if (["ControlLeft", "ControlRight", "AltLeft", "AltRight", "MetaLeft", "MetaRight"].includes(event.code)) {
      // Systems swallow the other keys going up while one of these is down.
      this.releaseAll();
      return;
    }
    const key = this.keys.byCode.get(event.code);
    if (!key) return;
    // Whatever has the focus.
    if (this.flying && (key.does === "stop_arm" || key.name === "stop")) {
      event.preventDefault();
      this.stop();
      return;
    }
    if (!this.isOurs(event) || (key.does === "send" && this.targets === 0)) return;
    event.preventDefault();
    if (event.repeat) return;
    if (key.does === "stop_arm") {
      this.halt();
    } else if (key.does === "send") {
      this.fly(key.target);
    } else if (key.does === "order") {
      this.give(key.name);
    } else {
      this.codes.set(event.code, key.name);
      this.moved();
    }
  }

  keyUp(event) {
    if (this.codes.delete(event.code)) this.moved();
  }

  hold(pointer, name) {
    this.pointers.set(pointer, name);
    this.moved();
  }

  letGo(pointer) {
    if (this.pointers.delete(pointer)) this.moved();
  }

  setSticks(sticks) {
    const same = JSON.stringify(sticks) === JSON.stringify(this.sticks);
    this.sticks = sticks;
    if (!same) this.moved();
  }

  releaseAll() {
    const held = this.holdsSomething;
    this.codes.clear();
    this.pointers.clear();
    this.sticks = null;
    this.gamepad.rest();
    if (held) this.moved();
  }

  give(order) {
    this.order(order);
  }

  // Something went down or up.
  moved() {
    if (this.holdsSomething && !this.may()) this.want();
    this.releases = this.holdsSomething ? 0 : RELEASES;
    this.start();
    this.changed();
  }

  start() {
    this.tell();
    this.timer ??= setInterval(() => this.tell(), REPEAT_MS);
  }

  tell() {
    // Drawing can be slow; sticks must not be as old as the last frame.
    if (this.sticks) this.gamepad.poll();
    if (this.holdsSomething) {
      if (this.may()) this.link.keys(this.held(), this.sticks);
      return;
    }
    if (this.releases > 0 && this.may()) {
      this.link.keys([], null);
      this.releases -= 1;
      return;
    }
    if (this.flying) {
      this.link.here();
      return;
    }
    clearInterval(this.timer);
    this.timer = null;
  }
}
