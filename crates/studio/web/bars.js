// Everything around the view: phase, meters, wheel, keycaps, orders, notices.

const PHASES = {
  starting: "Getting ready", free: "Driving", countdown: "Get ready", recording: "Recording",
  asking: "Keep it?", saving: "Saving", reset: "Put things back", replay: "Replay", finished: "Finished",
};
const TOAST_MS = 4000;

const byId = (id) => document.getElementById(id);

function text(id, value) {
  const element = byId(id);
  if (element.textContent !== value) element.textContent = value;
}

function words(name) {
  return name.replaceAll("_", " ");
}

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

export class Bars {
  constructor({ take, leave, order, hold, letGo, again, halt }) {
    Object.assign(this, { hold, letGo, again, order });
    this.caps = new Map();
    const button = byId("take");
    button.addEventListener("click", () => (this.driving ? leave() : take()));
    byId("halt").addEventListener("click", halt);
    byId("ask-keep").addEventListener("click", () => order("success"));
    byId("ask-throw").addEventListener("click", () => order("failure"));
    byId("help-open").addEventListener("click", () => byId("help").showModal());
    // A clicked button must not keep the focus: the next Enter is meant for the arm.
    addEventListener("click", (event) => {
      if (event.detail > 0) event.target.closest?.("button")?.blur();
    });
  }

  build(hello, keys) {
    const { stage } = hello;
    text("task", stage.task || stage.title || stage.scene);
    byId("task").title = byId("task").textContent;
    this.is_replay = stage.is_replay;
    document.body.classList.toggle("replay", stage.is_replay);
    text("version", `citrange ${hello.version}, you are ${hello.you}`);
    document.title = `${stage.title || stage.scene || "Citrange"} – studio`;
    this.caps.clear();
    byId("caps").replaceChildren(...this.groups(keys.all("hold")));
    byId("orders").replaceChildren(...keys.all("order").map((key) => this.orderButton(key)));
    for (const element of document.querySelectorAll("kbd[data-key]")) element.textContent = keys.cap(element.dataset.key);
    this.help(keys, stage.autopilot?.targets ?? []);
  }

  help(keys, targets) {
    const line = (key, meaning = key.words) => make("li", "", make("kbd", "", key.caps[0]), meaning);
    const sent = targets.map((name, at) => [keys.sends(at + 1), `fetch ${name}`]).filter(([key]) => key);
    if (targets.length) sent.push([keys.sends(0), "fetch all"]);
    byId("help-autopilot").hidden = targets.length === 0;
    byId("help-keys").replaceChildren(
      ...keys.all("hold").map((key) => line(key)),
      ...sent.map(([key, meaning]) => line(key, meaning)),
      ...[...keys.all("order"), ...keys.all("stop_arm")].map((key) => line(key)),
    );
  }

  orderButton(key) {
    const button = make("button", key.name, key.label, make("kbd", "", key.caps[0]));
    button.type = "button";
    button.title = key.words;
    button.disabled = !this.driving;
    button.addEventListener("click", () => this.order(key.name));
    return button;
  }

  // Keycaps as they lie on a keyboard.
  groups(keys) {
    const groups = new Map();
    for (const key of keys) {
      const [at, down, across] = key.place;
      const cap = this.cap(key);
      cap.style.gridRow = down + 1;
      cap.style.gridColumn = across + 1;
      if (!groups.has(at)) groups.set(at, make("div", "group"));
      groups.get(at).append(cap);
    }
    return groups.values();
  }

  cap({ name, label, caps }) {
    const cap = make("button", "cap", make("kbd", "", caps[0]), make("span", "", label));
    cap.title = words(name);
    cap.type = "button";
    cap.tabIndex = -1;
    cap.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      cap.setPointerCapture(event.pointerId);
      this.hold(event.pointerId, name);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      cap.addEventListener(end, (event) => this.letGo(event.pointerId));
    }
    cap.addEventListener("contextmenu", (event) => event.preventDefault());
    this.caps.set(name, cap);
    return cap;
  }

  // Held here: orange. Held as the loop knows it: a green edge.
  held(here, loop) {
    for (const [name, cap] of this.caps) {
      cap.classList.toggle("held", here.includes(name));
      cap.classList.toggle("sent", loop.includes(name));
    }
  }

  status(status, driving) {
    this.driving = driving;
    const { session } = status;
    document.body.dataset.phase = session.phase;
    text("phase-name", PHASES[session.phase] ?? session.phase);
    const limit = session.limit_s;
    const seconds = session.seconds ?? 0;
    text("clock", `${seconds.toFixed(1)} s${limit ? ` of ${limit.toFixed(0)} s` : ""}`);
    byId("progress").firstElementChild.style.width = limit ? `${Math.min(100, (100 * seconds) / limit)}%` : "0";
    text("episode", this.is_replay ? "" : session.dataset === null ? "Not recording" : session.wanted === null
      ? `Episode ${session.saved + 1}` : `Episode ${Math.min(session.saved + 1, session.wanted)} of ${session.wanted}`);
    const facts = [`${session.saved} saved`];
    if (session.message) facts.push(session.message);
    text("saved", session.dataset === null ? session.message : facts.join(" · "));
    byId("saved").title = session.dataset ?? "";
    this.lost(session, driving);
    text("driver", status.stopped_by ? "Stopped" : driving ? "You drive" : status.driver ? `${status.driver} drives` : "Nobody drives");
    byId("driver").classList.toggle("you", driving);
    text("take", driving ? "Leave the wheel" : "Take the wheel");
    byId("take").classList.toggle("main", !driving);
    byId("take").disabled = !driving && status.driver !== null;
    for (const button of byId("orders").children) button.disabled = !driving;
    byId("brake").classList.toggle("on", status.brake);
    text("brake", status.brake ? "Brake on" : "Brake off");
    const limits = status.limited_by.map(words).join(", ");
    byId("limits").classList.toggle("on", limits !== "");
    text("limits", limits ? `Limit: ${limits}` : "No limit");
    byId("limits").title = limits;
  }

  // Pictures that were lost: a word while few, red when more than may be, and then a question.
  lost(session, driving) {
    const too_many = session.lost_limit !== null && session.lost_share > session.lost_limit;
    const share = `${(100 * session.lost_share).toFixed(0)} %`;
    byId("lost").hidden = !session.dropped;
    byId("lost").classList.toggle("bad", too_many);
    text("lost", too_many ? `${share} of this episode’s pictures lost` : session.dropped ? `${session.dropped} pictures dropped` : "");
    byId("ask").hidden = session.phase !== "asking";
    text("ask-text", session.phase === "asking" ? session.message : "");
    for (const id of ["ask-keep", "ask-throw"]) byId(id).disabled = !driving;
  }

  meters(state, latency_ms, control_hz) {
    // In its first second a stretch of driving has no rate yet.
    const hz = state.loop_hz;
    text("loop", hz > 0 ? `${hz.toFixed(0)} Hz` : "–");
    byId("loop").parentElement.classList.toggle("bad", hz > 0 && hz < 0.9 * control_hz);
    text("late", state.late_ticks ? `${state.late_ticks} (${state.worst_late_ms.toFixed(1)} ms)` : "0");
    text("latency", latency_ms === null ? "–" : `${latency_ms.toFixed(0)} ms`);
    const [x, y, z] = state.hand.map((value) => `${(100 * value).toFixed(1)}`);
    const tilt = Number.isFinite(state.tilt) ? `   tilt ${((180 * state.tilt) / Math.PI).toFixed(0)}°` : "";
    text("hand", `hand  x ${x}  y ${y}  z ${z} cm${tilt}`);
  }

  // A red box until told otherwise; null takes it away.
  notice(message, retry = false) {
    const box = byId("notice");
    if (box.dataset.message === (message ?? "")) return;
    box.dataset.message = message ?? "";
    box.hidden = !message;
    box.replaceChildren(message ?? "");
    if (retry) {
      const button = make("button", "main", "Try again");
      button.addEventListener("click", () => this.again());
      box.append(document.createElement("br"), button);
    }
  }

  // A word that goes away by itself.
  toast(message) {
    const box = byId("toast");
    box.textContent = message;
    box.hidden = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (box.hidden = true), TOAST_MS);
  }

  down() {
    document.body.classList.add("down");
    text("phase-name", "Not connected");
    text("clock", "the arm has stopped");
    for (const meter of ["loop", "latency", "late"]) text(meter, "–");
    text("driver", "");
    byId("ask").hidden = true;
    byId("take").disabled = true;
    for (const button of byId("orders").children) button.disabled = true;
  }

  up() {
    document.body.classList.remove("down");
  }
}
