// What is wrong with the arm or its cameras, while it is.

export const place = "guards";

export function create(container) {
  const lamp = Object.assign(document.createElement("span"), { id: "troubles", className: "lamp on", hidden: true });
  lamp.setAttribute("role", "alert");
  container.append(lamp);
  return {
    status: ({ troubles }) => {
      const text = troubles.join("; ");
      if (lamp.textContent !== text) lamp.textContent = text;
      lamp.hidden = text === "";
    },
    down: () => {
      lamp.hidden = true;
    },
  };
}
