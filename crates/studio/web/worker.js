// Draws the 3D view beside the page.

import { View } from "./view.js";

let view = null;

onmessage = ({ data }) => {
  if (data.call === "open") view = new View(data.with, (drawn) => postMessage({ drawn }));
  else view?.[data.call](data.with);
};
postMessage({ able: Boolean(new OffscreenCanvas(1, 1).getContext("webgl2")) });
