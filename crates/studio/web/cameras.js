// The cameras' pictures: only the newest is decoded, and the server is told what was seen, so
// that a slow line gets fewer.

const SEEN_PERIOD_MS = 40;

export class Cameras {
  constructor(panel, seen) {
    this.panel = panel;
    this.tell = seen;
    this.screens = [];
    this.told = 0;
  }

  build(cameras) {
    this.panel.replaceChildren();
    this.panel.classList.toggle("single", cameras.length === 1);
    this.panel.parentElement.hidden = cameras.length === 0;
    this.screens = cameras.map((camera) => {
      const figure = document.createElement("figure");
      const canvas = document.createElement("canvas");
      canvas.width = camera.width_px;
      canvas.height = camera.height_px;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `Picture of camera ${camera.name}`);
      const caption = document.createElement("figcaption");
      const [name, frame] = [document.createElement("span"), document.createElement("span")];
      name.textContent = camera.name;
      caption.append(name, frame);
      figure.append(canvas, caption);
      figure.title = "click: larger or smaller";
      figure.addEventListener("click", () => figure.classList.toggle("large"));
      this.panel.append(figure);
      return { pen: canvas.getContext("2d"), canvas, frame, busy: false, next: null };
    });
  }

  show(picture) {
    const screen = this.screens[picture.camera];
    if (!screen) return;
    screen.next = picture;
    if (!screen.busy) this.decode(screen);
  }

  async decode(screen) {
    screen.busy = true;
    while (screen.next) {
      const picture = screen.next;
      screen.next = null;
      try {
        const bitmap = await createImageBitmap(new Blob([picture.jpeg], { type: "image/jpeg" }));
        screen.pen.drawImage(bitmap, 0, 0, screen.canvas.width, screen.canvas.height);
        bitmap.close();
        screen.frame.textContent = picture.frame;
      } catch {
        screen.frame.textContent = "unreadable";
      }
      this.seen(picture.frame);
    }
    screen.busy = false;
  }

  seen(frame) {
    const wait = this.told + SEEN_PERIOD_MS - performance.now();
    clearTimeout(this.timer);
    if (wait > 0) {
      this.timer = setTimeout(() => this.seen(frame), wait);
      return;
    }
    this.told = performance.now();
    this.tell(frame);
  }
}
