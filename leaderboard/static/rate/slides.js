/* The renders of one question: the same view of each entry beside the reference, step by step or by themselves.
   All pictures show the same part: one zoom, one place.

   {form: "render", prompt, normals, views: [{reference, left, right}]}: names of files, null where there is none. Where
   `normals` is true, a picture of normals stands beside each image, "left-1-normal.webp" beside "left-1.webp". */

import { arrange } from "../viewer/src/arrange.js";
import { make } from "./words.js";

const GAP = 8;
const SECONDS = 2.5; // of a slide
const MOST_ZOOM = 16;
const STEP = 60; // pixels
const NAMES = { left: "Left", right: "Right", reference: "Reference" };

/* One picture, decoded. */
async function image(address) {
  const found = make("img", { alt: "", src: address, draggable: false });
  await found.decode().catch(() => { throw new Error("A picture of this question could not be loaded; load the page again."); });
  return found;
}

export class RateSlides {
  constructor(host, form, changed) {
    Object.assign(this, { host, changed, now: null, view: 0, zoom: 1, x: 0, y: 0 });
    this.settings = { reference: "beside", playing: false, normals: false };
    this.held = false;
    this.frames = make("div", { className: "rate-frames" });
    host.append(this.frames);
    host.dataset.renderer = "pictures";
    this.pointers();
    new ResizeObserver(() => this.lay()).observe(host);
  }

  // ---- one question after the other ----

  /* The first view of every side; the others come while that one is looked at. */
  async prepare(scene, address, get) {
    const views = scene.views.map((view) => Object.fromEntries(Object.entries(view).map(([side, file]) => [side, file && new URL(file, address).href])));
    const sides = ["left", "reference", "right"].filter((side) => views.some((view) => side in view));
    const ready = { views, sides, prompt: scene.prompt || "", normals: Boolean(scene.normals), images: new Map(), loads: new Map() };
    const one = async (number, side, normals) => {
      const file = views[number][side];
      if (!file) return null;
      // A side that has no pictures of normals stays empty there.
      return normals ? image(file.replace(/\.webp$/, "-normal.webp")).catch(() => null) : image(file);
    };
    const load = async (number, normals) => {
      const found = await Promise.all(sides.map((side) => one(number, side, normals)));
      ready.images.set(`${number} ${normals}`, Object.fromEntries(sides.map((side, place) => [side, found[place]])));
    };
    ready.load = (number, normals) => {
      const name = `${number} ${normals}`;
      if (!ready.loads.has(name)) {
        const found = load(number, normals);
        ready.loads.set(name, found);
        found.catch(() => ready.loads.delete(name));
      }
      return ready.loads.get(name);
    };
    if (views.length) await ready.load(0, this.settings.normals && ready.normals);
    return ready;
  }

  show(ready) {
    Object.assign(this, { now: ready, view: 0, zoom: 1, x: 0, y: 0 });
    this.play(this.settings.playing);
    this.lay();
    this.changed();
    // It was made ready before somebody asked for normals.
    if (this.normals && !ready.images.has("0 true")) this.turnTo(0, true);
    this.rest(ready);
  }

  async rest(ready) {
    try {
      for (let number = 1; number < ready.views.length && this.now === ready; number += 1) await ready.load(number, this.normals);
    } catch { /* asked for again when it is looked at, and then said */ }
  }

  drop() {}

  get empty() { return this.now ? this.now.sides.filter((side) => this.now.views.every((view) => !view[side])) : []; }

  get normals() { return this.settings.normals && this.now.normals; }

  step(by) {
    const n = this.now?.views.length;
    if (n) this.turnTo((this.view + by + n) % n, this.settings.normals);
  }

  /* The view, once its pictures are here; whatever is asked for last is what is seen. */
  async turnTo(view, normals) {
    const ready = this.now;
    const wanted = { view, normals };
    this.wanted = wanted;
    try {
      await ready.load(view, normals && ready.normals);
    } catch (error) {
      this.host.dispatchEvent(new CustomEvent("rate:trouble", { detail: error.message, bubbles: true }));
      return;
    }
    if (this.now !== ready || this.wanted !== wanted) return;
    this.view = view;
    this.settings.normals = normals;
    this.lay();
    this.changed();
  }

  play(on) {
    clearInterval(this.timer);
    this.settings.playing = on;
    if (on) this.timer = setInterval(() => { if (!document.hidden) this.step(1); }, 1000 * SECONDS);
  }

  // ---- drawing ----

  panels() {
    const { sides } = this.now;
    const shown = this.settings.reference === "beside" ? sides : sides.filter((side) => side !== "reference");
    // Alone, the reference stands to the right of what is judged.
    const order = sides.includes("right") ? shown : [...shown].sort();
    return arrange(Math.max(1, this.host.clientWidth), Math.max(1, this.host.clientHeight), order, GAP);
  }

  lay() {
    if (!this.now) return;
    const { images: all } = this.now;
    const images = all.get(`${this.view} ${this.normals}`) || all.get(`${this.view} false`) || {};
    const judged = this.now.sides.includes("right");
    const frames = this.panels().map(({ x, y, width, height, models: side }) => {
      const seen = this.held ? "reference" : side;
      const words = seen === "reference" || judged ? NAMES[seen] : "To be judged";
      const shown = images[seen];
      const picture = make("div", { className: "rate-picture" });
      if (shown) picture.append(seen === side ? shown : shown.cloneNode()); else picture.append(make("span", { className: "rate-nothing" }, "Empty: there is no picture of this view"));
      const frame = make("div", { className: "rate-frame", style: `left:${x}px;top:${y}px;width:${width}px;height:${height}px` }, picture, make("b", {}, words));
      frame.dataset.side = side;
      return frame;
    });
    this.frames.replaceChildren(...frames);
    this.place();
  }

  /* Where every picture stands. */
  place() {
    const [{ width, height }] = this.panels();
    const reach = [width, height].map((size) => (size * (this.zoom - 1)) / 2);
    [this.x, this.y] = [this.x, this.y].map((value, axis) => Math.max(-reach[axis], Math.min(reach[axis], value)));
    for (const img of this.frames.querySelectorAll("img")) {
      img.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.zoom})`;
      const fitted = Math.min(width / (img.naturalWidth || 1), height / (img.naturalHeight || 1));
      img.style.imageRendering = this.zoom * fitted > 1.5 ? "pixelated" : "auto";
    }
  }

  /* Keeps what lies under (px, py), from the middle of a picture, where it is. */
  zoomTo(zoom, px = 0, py = 0) {
    const next = Math.max(1, Math.min(MOST_ZOOM, zoom));
    this.x = px - ((px - this.x) * next) / this.zoom;
    this.y = py - ((py - this.y) * next) / this.zoom;
    this.zoom = next;
    this.place();
    this.changed();
  }

  move(dx, dy) { this.x += dx; this.y += dy; this.place(); }

  hold(on) {
    if (this.held === on || !this.now?.sides.includes("reference")) return;
    this.held = on;
    this.lay();
    this.changed();
  }

  pointers() {
    const { host } = this;
    const held = new Map();
    const gap = ([a, b]) => Math.hypot(a.x - b.x, a.y - b.y);
    const within = (event) => {
      const frame = host.getBoundingClientRect();
      const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
      const panel = this.panels().find((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height) || this.panels()[0];
      return [x - panel.x - panel.width / 2, y - panel.y - panel.height / 2];
    };
    host.addEventListener("pointerdown", (event) => { host.setPointerCapture(event.pointerId); held.set(event.pointerId, { x: event.clientX, y: event.clientY }); });
    host.addEventListener("pointermove", (event) => {
      if (!held.has(event.pointerId) || !this.now) return;
      const before = Array.from(held.values());
      const last = held.get(event.pointerId);
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      this.move((event.clientX - last.x) / held.size, (event.clientY - last.y) / held.size);
      if (held.size === 2) this.zoomTo((this.zoom * gap(Array.from(held.values()))) / (gap(before) || 1), ...within(event));
    });
    for (const name of ["pointerup", "pointercancel"]) host.addEventListener(name, (event) => held.delete(event.pointerId));
    host.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (!this.now) return;
      const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
      this.zoomTo(this.zoom * Math.exp(-Math.max(-200, Math.min(200, pixels)) * 0.0016), ...within(event));
    }, { passive: false });
    document.addEventListener("keyup", (event) => { if (event.key.toLowerCase() === "v") this.hold(false); });
    window.addEventListener("blur", () => this.hold(false));
  }

  // ---- what a person can do ----

  tools() {
    const { settings, zoom } = this;
    const act = (words, key, title, run, down = null, label = key.toUpperCase()) => ({ words, key, title, act: run, down, label });
    const reference = (value, words, key, title) => act(words, key, title, () => { settings.reference = value; this.lay(); this.changed(); }, settings.reference === value);
    const n = this.now?.views.length || 0;
    const views = [
      act("Back", ",", "The view before", () => this.step(-1)),
      act("On", ".", "The next view", () => this.step(1)),
      act("Slideshow", "g", "View after view by itself", () => { this.play(!settings.playing); this.changed(); }, settings.playing),
    ];
    views.words = n ? `View ${this.view + 1} of ${n}` : "View";
    const zooms = [
      act("Fit", "r", "The whole picture", () => this.zoomTo(1)),
      act("4×", "z", "Four times as large", () => this.zoomTo(zoom >= 4 ? 1 : 4), zoom >= 3.99),
    ];
    zooms.words = `Zoom ${zoom.toFixed(1).replace(/\.0$/, "")}×`;
    const references = [
      reference("beside", "Beside", "b", "The reference in a picture of its own"),
      reference("off", "Off", "x", "Without the reference"),
      act("In place", "v", "While the key is held, or until pressed again: the reference where each picture is", () => this.hold(!this.held), this.held),
    ];
    references.words = "Reference";
    const picture = (normals, words, key, title) => ({ ...act(words, key, title, () => { if (this.now) this.turnTo(this.view, normals); }, settings.normals === normals), hidden: !this.now?.normals });
    const pictures = [picture(false, "Colours", "c", "What it looks like"), picture(true, "Normals", "n", "Where its surface points")];
    pictures.words = "Picture";
    return [views, zooms, references, pictures];
  }

  keys() {
    const move = (x, y) => () => this.move(x * STEP, y * STEP);
    return {
      v: () => this.hold(true), j: move(1, 0), l: move(-1, 0), i: move(0, 1), k: move(0, -1),
      "shift+ArrowLeft": move(1, 0), "shift+ArrowRight": move(-1, 0), "shift+ArrowUp": move(0, 1), "shift+ArrowDown": move(0, -1),
      "+": () => this.zoomTo(this.zoom * 1.25), "=": () => this.zoomTo(this.zoom * 1.25), "-": () => this.zoomTo(this.zoom / 1.25), _: () => this.zoomTo(this.zoom / 1.25),
    };
  }

  static keyWords = [["Shift + arrows", "move"], ["+ −", "zoom"], ["V held", "the reference in place of each picture"]];

  static hint = "scroll to zoom, drag to move";

  legend() { return []; }
}
