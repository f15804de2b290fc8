// A number at the top of the page.

// Adds a meter; answers a function that sets its text.
export function meter(container, id, label, title) {
  const name = Object.assign(document.createElement("dt"), { textContent: label });
  const value = Object.assign(document.createElement("dd"), { id, textContent: "–" });
  const box = Object.assign(document.createElement("div"), { title });
  box.append(name, value);
  container.append(box);
  return (text) => {
    if (value.textContent !== text) value.textContent = text;
  };
}
