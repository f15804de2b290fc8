// The autopilot's panel: what it can be sent for, what it is at, how it went.

const LOG_LINES = 4;

const byId = (id) => document.getElementById(id);

function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function words(name) {
  return name.toLowerCase().replaceAll("_", " ");
}

export class Autopilot {
  // `fly` is told the number of a target, 0 for all of them; `say` shows people how it ended.
  constructor({ fly, stop, say }) {
    Object.assign(this, { fly, say });
    this.message = "";
    this.logged = "";
    byId("autopilot-stop").addEventListener("click", stop);
  }

  // Without work for it there is no panel.
  build(autopilot, keys) {
    byId("autopilot-panel").hidden = !autopilot;
    this.targets = autopilot?.targets ?? [];
    const all = this.targets.length > 1 ? [[0, "all"]] : [];
    const named = [...this.targets.map((name, at) => [at + 1, name]), ...all];
    this.buttons = named.map(([target, name]) => this.button(target, name, keys.sends(target)?.caps[0] ?? ""));
    byId("targets").replaceChildren(...this.buttons);
    this.states = new Map((autopilot?.states ?? []).map((name) => [name, make("li", "", words(name))]));
    byId("states").replaceChildren(...this.states.values());
  }

  button(target, name, cap) {
    const button = make("button", "", make("kbd", "", cap), make("span", "", name), make("i", "tick", "✓"));
    button.type = "button";
    button.title = name === "all" ? "Fetch everything, in this order" : `Fetch ${name}`;
    button.addEventListener("click", () => this.fly(target));
    return button;
  }

  status(flight, driving, driver) {
    if (!flight || !this.buttons) return;
    const panel = byId("autopilot-panel");
    panel.classList.toggle("flying", flight.flying);
    panel.classList.toggle("hard-reset", flight.hard_reset && !flight.flying);
    byId("autopilot-stop").disabled = !flight.flying || !driving;
    this.buttons.forEach((button, at) => {
      button.disabled = flight.flying || (!driving && driver !== null);
      button.classList.toggle("current", flight.flying && this.targets[at] === flight.target);
      button.classList.toggle("placed", flight.placed[at] === true);
    });
    for (const [name, element] of this.states) element.classList.toggle("on", flight.flying && name === flight.state);
    text(byId("attempt"), flight.flying && flight.attempt ? String(flight.attempt) : "–");
    text(byId("holds"), flight.flying ? flight.held : "–");
    byId("holds").dataset.held = flight.flying ? flight.held : "";
    text(byId("failure"), flight.failure ? words(flight.failure) : "none");
    text(byId("flight-message"), flight.flying ? `fetches ${flight.target ?? "…"}` : flight.message || "press a target’s key to send it");
    this.log(flight.log);
    if (flight.message && flight.message !== this.message) this.say(flight.message);
    this.message = flight.message;
  }

  log(notes) {
    const lines = notes.slice(-LOG_LINES).map(({ time_s, text: said }) => [time_s.toFixed(1), said]);
    const logged = JSON.stringify(lines);
    if (logged === this.logged) return;
    this.logged = logged;
    byId("flight-log").replaceChildren(...lines.map(([time, said]) => make("li", "", make("time", "", `${time} s`), said)));
  }
}
