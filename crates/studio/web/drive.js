// What is held, and the dead man's grip: as long as something is held the server hears of it every
// 40 ms, and everything is let go the moment this page might not notice a key going up.

import { Gamepad } from "./gamepad.js";

const REPEAT_MS = 40;
const RELEASES = 3;

const CODES = {
  KeyW: "forward", KeyS: "backward", KeyA: "left", KeyD: "right", KeyQ: "up", KeyE: "down",
  BracketLeft: "roll_left", BracketRight: "roll_right", KeyO: "open", KeyC: "close",
  KeyI: "tilt_forward", KeyK: "tilt_backward", KeyJ: "tilt_left", KeyL: "tilt_right",
};
const ORDER_CODES = {
  ArrowRight: "save", ArrowLeft: "discard", Enter: "success", NumpadEnter: "success",
  Backspace: "failure", Escape: "stop", KeyR: "reset",
};

export class Drive {
  // `may` says whether this page drives, `want` asks for the wheel, `changed` shows what is held.
  constructor(link, { may, want, changed, order }) {
    Object.assign(this, { link, may, want, changed, order });
    this.codes = new Map();
    this.pointers = new Map();
    this.sticks = null;
    this.known = new Set(Object.values(CODES));
    this.releases = 0;
    this.gamepad = new Gamepad({
      sticks: (sticks) => this.setSticks(sticks),
      order: (order) => this.give(order),
    });

    addEventListener("keydown", (event) => this.keyDown(event));
    addEventListener("keyup", (event) => this.keyUp(event));
    for (const lost of ["blur", "pagehide"]) addEventListener(lost, () => this.releaseAll());
    addEventListener("contextmenu", (event) => {
      if (!event.defaultPrevented) this.releaseAll();
    });
    document.addEventListener("freeze", () => this.releaseAll());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.releaseAll();
    });
    document.addEventListener("fullscreenchange", () => this.releaseAll());
  }

  // Only keys that do something on this robot.
  setKnown(names) {
    this.known = new Set(names);
  }

  held() {
    const names = new Set([...this.codes.values(), ...this.pointers.values()]);
    return [...names].filter((name) => this.known.has(name));
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
    if (!this.isOurs(event)) return;
    const name = CODES[event.code];
    const order = ORDER_CODES[event.code];
    if (!name && !order) return;
    event.preventDefault();
    if (event.repeat) return;
    if (order) {
      this.give(order);
    } else if (this.known.has(name)) {
      this.codes.set(event.code, name);
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
    this.tell();
    this.timer ??= setInterval(() => this.tell(), REPEAT_MS);
    this.changed();
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
    clearInterval(this.timer);
    this.timer = null;
  }
}
