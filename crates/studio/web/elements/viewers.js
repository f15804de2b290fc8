// How many pages are connected.

import { meter } from "../meter.js";

export const place = "meters";

export function create(container) {
  const viewers = meter(container, "viewers", "Viewers", "Pages connected");
  return {
    status: (status) => viewers(String(status.viewers)),
    down: () => viewers("–"),
  };
}
