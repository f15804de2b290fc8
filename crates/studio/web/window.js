// The page's side of the 3D view. It draws in a worker where it can: drawing without a graphics
// card takes long, and keys must not wait for it.

import { Orbit } from "./orbit.js";

const MOST_RATIO = 1.5;

// A view in a worker; null where browsers cannot.
function inWorker(canvas, view, told) {
  if (!canvas.transferControlToOffscreen) return Promise.resolve(null);
  return new Promise((resolve) => {
    const worker = new Worker("/worker.js", { type: "module" });
    worker.onerror = () => resolve(null);
    worker.onmessage = ({ data }) => {
      if ("drawn" in data) {
        told(data.drawn, data.filled);
      } else if (data.able) {
        view.soft = data.soft;
        const offscreen = canvas.transferControlToOffscreen();
        worker.postMessage({ call: "open", with: { canvas: offscreen, soft: data.soft } }, [offscreen]);
        resolve((call, argument) => worker.postMessage({ call, with: argument }));
      } else {
        worker.terminate();
        resolve(null);
      }
    };
  });
}

// A view in the page itself; null without WebGL.
async function inPage(canvas, view, told) {
  try {
    const { View, probe } = await import("./view.js");
    view.soft = probe(document.createElement("canvas")).soft;
    const inside = new View({ canvas, soft: view.soft }, told);
    return (call, argument) => inside[call](argument);
  } catch (error) {
    console.warn("no 3D view:", error);
    return null;
  }
}

export async function openWindow(canvas) {
  // `soft`: the processor draws.
  const view = { drawn: 0, soft: false };
  const told = (drawn, filled) => {
    view.drawn = drawn;
    // Until there is something to see, a word stands in its place.
    if (filled) document.getElementById("loading").hidden = true;
  };
  const call = (await inWorker(canvas, view, told)) ?? (await inPage(canvas, view, told));
  if (!call) return null;
  const orbit = new Orbit(canvas, (orbit) => call("look", { from: orbit.from(), at: orbit.at }));
  view.orbit = orbit;
  const resize = () => {
    const { clientWidth: width, clientHeight: height } = canvas.parentElement;
    if (width && height) call("resize", { width, height, ratio: Math.min(devicePixelRatio, MOST_RATIO) });
  };
  new ResizeObserver(resize).observe(canvas.parentElement);
  resize();
  view.build = (stage) => {
    const { look_at_m: at, look_from_m: from } = stage;
    const same = from.every((value, axis) => value === at[axis]);
    orbit.home(at, same ? [at[0] + 0.6, at[1] - 0.6, at[2] + 0.5] : from);
    call("build", stage);
  };
  view.show = ({ bodies, hand }) => call("show", { bodies: bodies.slice(), hand });
  return view;
}
