// Draws the 3D view beside the page.

import { View, probe } from "./view.js";

let view = null;

onmessage = ({ data }) => {
  if (data.call === "open") view = new View(data.with, (drawn, filled) => postMessage({ drawn, filled }));
  else view?.[data.call](data.with);
};
postMessage(probe(new OffscreenCanvas(1, 1)));
