// The last page: what was saved, where, and what to do next. It needs no server any more.

const byId = (id) => document.getElementById(id);

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

const JUDGED = new Map([[true, "success"], [false, "failure"], [null, "not judged"]]);

function episodeLine({ number, frames, success, reason, lost_share: lost }) {
  const judged = JUDGED.get(success);
  const line = make("li", judged.replace(" ", "-"), make("b", "", `Episode ${number}`), ` ${frames} frames, ${judged}`);
  if (reason !== judged) line.append(` (${reason.replaceAll("_", " ")})`);
  if (lost > 0) line.append(make("span", "bad", ` ${lost < 0.01 ? "less than 1" : Math.round(100 * lost)} % of its pictures lost`));
  return line;
}

export function showLast(summary) {
  byId("last-headline").textContent = summary.headline;
  const thrown = summary.discarded ? `${summary.discarded} thrown away` : "";
  const where = summary.dataset ? ["In ", make("code", "", summary.dataset), thrown && `; ${thrown}`] : [thrown];
  byId("last-where").replaceChildren(...where);
  byId("last-episodes").replaceChildren(...summary.episodes.map(episodeLine));
  byId("last-next").replaceChildren(...summary.next.flatMap(({ what, command }) => [
    make("dt", "", what), make("dd", "", make("code", "", command)),
  ]));
  document.body.dataset.phase = "finished";
  byId("last").hidden = false;
  document.querySelector("dialog[open]")?.close();
}
