// How far the arm is from its leader: the joint that is furthest away.

import { meter } from "../meter.js";

export const place = "meters";

export function create(container) {
  let show = null;
  return {
    status: ({ leader }) => {
      if (leader && !show) show = meter(container, "leader", "Leader", "Joint of the arm that is furthest from its leader");
      if (show) show(leader ? `${leader.away_deg}° ${leader.joint}` : "–");
    },
    down: () => show?.("–"),
  };
}
