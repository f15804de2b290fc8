// Puts the parts of the page together.

import { Autopilot } from "./autopilot.js";
import { Bars } from "./bars.js";
import { Cameras } from "./cameras.js";
import { Drive } from "./drive.js";
import { elements } from "./elements.js";
import { KeyTable } from "./keys.js";
import { showLast } from "./last.js";
import { Link } from "./link.js";
import { Plots } from "./plots.js";
import { openWindow } from "./window.js";

const STALE_MS = 700;
const METERS_MS = 100;
const ASKED_MS = 500;

// The token comes inside the page and stays in this tab's memory. The address holds a code that
// was worth something only until now; the link with the token led on to it.
const token = document.querySelector('meta[name="citrange-token"]').content;
sessionStorage.setItem("citrange-token", token);
history.replaceState(null, "", "/");

let stage = null;
let keys = new KeyTable([], []);
let you = "";
let state = null;
let status = null;
let driving = false;
// Asked for the wheel, not answered yet.
let asking = false;
let old_before = 0;
let state_at = 0;
let moved_at = 0;
let metered_at = 0;
let connected = false;
let asked_at = -Infinity;

const bars = new Bars({
  take: () => ask(),
  leave: () => link.send({ type: "leave" }),
  order: (name) => give(name),
  hold: (pointer, name) => drive.hold(pointer, name),
  letGo: (pointer) => drive.letGo(pointer),
  again: () => location.replace("/"),
  halt: () => halt(),
});
const autopilot = new Autopilot({
  fly: (target) => drive.fly(target),
  stop: () => drive.stop(),
  say: (message) => bars.toast(`Autopilot: ${message}`),
});
const cameras = new Cameras(document.getElementById("cameras"), (frame) => link.send({ type: "seen", frame }));
const plots = new Plots(document.getElementById("plots"));
// Each is a file of its own in elements/, and says where it belongs.
const shown = elements.map((element) => element.create(document.getElementById(element.place)));

const view = await openWindow(document.getElementById("scene"));
if (!view) {
  const hint = document.getElementById("hint");
  hint.textContent = "This browser has no WebGL, so there is no 3D view; cameras, plots and keys work.";
  hint.className = "alone";
  document.getElementById("loading").hidden = true;
}

// Without a graphics card every picture costs the processor that keys need.
if (!view || view.soft) {
  document.getElementById("hz").value = "5";
  plots.period_ms = 250;
}

function ask() {
  if (asking || !connected) return;
  asking = link.send({ type: "take" });
}

function give(order) {
  if (!connected) return;
  if (!driving) bars.toast("You are not driving: take the wheel first.");
  // The second half of a double click answers no question.
  else if (performance.now() - asked_at > ASKED_MS) link.order(order);
}

// For everybody: the arm stops, and holds until somebody takes the wheel anew.
function halt() {
  drive.lookAway("asked");
  if (link.send({ type: "stop" })) bars.toast("The arm was stopped.");
}

function over(summary) {
  connected = false;
  driving = false;
  link.end();
  drive.stop();
  drive.releaseAll();
  bars.notice(null);
  showLast(summary);
}

function showHeld() {
  bars.held(drive.held(), status?.held ?? []);
}

function seat(is_mine) {
  driving = is_mine;
  asking = false;
  if (status) bars.status(status, driving);
  if (driving) drive.mayNow();
}

function wantedHz() {
  return document.hidden ? 0 : Number(document.getElementById("hz").value);
}

const link = new Link(token, {
  hello(message) {
    connected = true;
    stage = message.stage;
    you = message.you;
    driving = false;
    asking = false;
    old_before = 0;
    bars.up();
    keys = new KeyTable(message.keys, stage.keys.map((key) => key.name));
    bars.build(message, keys);
    bars.notice(null);
    cameras.build(stage.cameras);
    plots.build(stage.joints);
    view?.build(stage);
    drive.setKeys(keys, stage.autopilot?.targets.length ?? 0);
    autopilot.build(stage.autopilot, keys);
    for (const element of shown) element.hello?.(stage);
    link.send({ type: "cameras", hz: wantedHz() });
  },
  state(message) {
    const now = performance.now();
    if (message.moment !== state?.moment) moved_at = now;
    state_at = now;
    const is_new = message.moment !== state?.moment;
    state = message;
    if (is_new) view?.show(state);
    plots.show(state);
    for (const element of shown) element.state?.(state);
    if (now - metered_at >= METERS_MS) {
      metered_at = now;
      bars.meters(state, link.latency_ms, stage.control_hz);
    }
  },
  picture: (message) => cameras.show(message),
  status(message) {
    if (message.session.phase === "asking" && status?.session.phase !== "asking") asked_at = performance.now();
    status = message;
    if (!asking && driving !== message.you_drive) seat(message.you_drive);
    bars.status(status, driving);
    drive.setFlying(status.flight?.flying ?? false);
    autopilot.status(status.flight, driving, status.driver);
    for (const element of shown) element.status?.(status);
    showHeld();
    if (message.refused.old > old_before) bars.toast("The connection is too slow: keys arrive too late and do not count.");
    old_before = message.refused.old;
    if (message.session.summary) over(message.session.summary);
  },
  seat(message) {
    seat(message.driving);
    if (!message.driving && message.driver) bars.toast(message.message);
  },
  error: (message) => bars.toast(message.message),
  down(why, final) {
    connected = false;
    driving = false;
    asking = false;
    if (status) status.held = [];
    // A key that is still down must go up and down again before it counts.
    drive.stop();
    drive.releaseAll();
    bars.down();
    for (const element of shown) element.down?.();
    bars.notice(final ? why : `The arm has stopped; reconnecting…\n${why}`, final);
  },
});

const drive = new Drive(link, {
  may: () => driving,
  // The only one here need not ask twice. Others press the button.
  want() {
    if (!connected || asking) return;
    if (status?.stopped_by) bars.toast("The arm was stopped. Press “Take the wheel” to drive on.");
    else if (status && status.driver === null && status.viewers === 1) ask();
    else if (status) bars.toast(status.driver ? `${status.driver} is driving.` : "Press “Take the wheel” to drive.");
  },
  changed: showHeld,
  order: give,
  halt,
});

// The next Enter is meant for the arm, not for the button that opened the help.
document.getElementById("help").addEventListener("close", () => document.activeElement?.blur());
document.getElementById("help-open").addEventListener("click", () => drive.lookAway("focus"));
document.getElementById("hz").addEventListener("change", (event) => {
  link.send({ type: "cameras", hz: wantedHz() });
  event.target.blur();
});
document.addEventListener("visibilitychange", () => link.send({ type: "cameras", hz: wantedHz() }));

setInterval(() => {
  if (!connected || !state) return;
  const now = performance.now();
  if (now - state_at > STALE_MS) bars.notice(`No news from the server for ${((now - state_at) / 1000).toFixed(0)} s.`);
  else if (now - moved_at > 2000) bars.notice("The control loop stands still.");
  else if (status?.stopped_by && !stage.is_replay) bars.notice(`Stopped by ${status.stopped_by === you ? "you" : status.stopped_by}. The arm holds until somebody takes the wheel.`);
  else bars.notice(null);
}, 250);

// For tests and the curious; changing it changes nothing.
Object.defineProperty(window, "citrange", {
  get() {
    const bodies = {};
    stage?.bodies.forEach((name, index) => {
      if (state) bodies[name] = [...state.bodies.subarray(7 * index, 7 * index + 7)];
    });
    return {
      ready: connected && state !== null && status !== null,
      state: state && {
        time_s: state.time_s, hand: [...state.hand], tilt: state.tilt, moment: state.moment,
        joints: [...state.joints], targets: [...state.targets], bodies,
      },
      status: status && structuredClone(status),
      driving,
      // What browsers call each key, by its name.
      codes: Object.fromEntries(keys.rows.map((key) => [key.name, key.codes[0]])),
      latency_ms: link.latency_ms,
      drawn_frames: view?.drawn ?? 0,
      // Where the 3D view is looked at from.
      eye: view && { from: view.orbit.from(), at: [...view.orbit.at] },
    };
  },
});
