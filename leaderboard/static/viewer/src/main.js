/* <div class="viewer" data-src="/….json" [data-sync="group"] [data-height="480"]>what to read without JavaScript</div>
   Pages may listen to `viewer:ready` and `viewer:pick` (detail: see describe() in pick.js). */

import { bounds, parse } from "./data.js";
import { sharedCamera } from "./camera.js";
import { FlatStage } from "./flat.js";
import { GlStage } from "./gl.js";
import { keys, pointers } from "./input.js";
import { legend, Overlay, summary, toolbar } from "./panel.js";
import { describe, differences, pickAt } from "./pick.js";
import { colours } from "./styles.js";

const HINT = "Drag to turn, right-drag or two fingers to move, scroll to zoom; point at an edge or vertex to read it.";
let count = 0;

class Viewer {
  constructor(element, data) {
    this.element = element;
    this.data = data;
    const shared = sharedCamera(element.dataset.sync, data.origin);
    this.camera = shared.camera;
    this.shift = data.origin.map((value, axis) => value - shared.origin[axis]);
    this.hidden = new Set();
    this.visible = (model, kind) => !this.hidden.has(`${model.number}`) && !this.hidden.has(`${model.number}/${kind}`);
    this.hasDifferences = differences(data, () => true).length > 0;
    this.pinned = this.shown = null;
    this.build();
    const box = bounds(data);
    this.radius = box ? Math.hypot(...box.low.map((value, axis) => box.high[axis] - value)) / 2 || 1 : 1;
    for (const { vertices } of data.models) {
      for (let i = 0; i < vertices.length; i += 3) this.camera.points.push([0, 1, 2].map((k) => vertices[i + k] + this.shift[k]));
    }
    this.camera.listeners.add(() => this.invalidate());
    if (!this.camera.touched) this.look("reset");
    this.invalidate();
  }

  build() {
    const stage = document.createElement("div");
    stage.className = "viewer-stage";
    stage.tabIndex = 0;
    stage.setAttribute("role", "application");
    stage.setAttribute("aria-roledescription", "3D view");
    stage.setAttribute("aria-label", summary(this.data));
    if (this.element.dataset.height) stage.style.height = `${Number(this.element.dataset.height)}px`;
    this.stageElement = stage;
    this.overlay = new Overlay(this.data.unit);
    this.words = Object.assign(document.createElement("p"), { className: "viewer-words", textContent: HINT, id: `viewer-words-${count += 1}` });
    this.words.setAttribute("role", "status");
    this.element.replaceChildren(toolbar(this), stage, this.words, legend(this));
    this.stage = this.makeStage(stage);
    stage.append(this.overlay.bar, this.overlay.axes);
    this.stage.recolour(colours(this.element));
    pointers(stage, this);
    keys(stage, this);
    new ResizeObserver(() => this.resized()).observe(stage);
  }

  makeStage(host) {
    try {
      const stage = new GlStage(host, this.data, this.shift);
      stage.element.addEventListener("webglcontextrestored", () => this.invalidate());
      this.element.dataset.renderer = "webgl";
      return stage;
    } catch {
      this.element.dataset.renderer = "flat";
      const note = Object.assign(document.createElement("p"), { className: "viewer-note", textContent: "This browser has no WebGL; the same model is drawn with plain lines." });
      this.words.before(note);
      return new FlatStage(host, this.data, this.shift);
    }
  }

  resized() {
    if (this.camera.touched) this.invalidate(); else this.camera.fit(...this.extent());
  }

  extent() { return [Math.max(1, this.stageElement.clientWidth), Math.max(1, this.stageElement.clientHeight)]; }

  lens() { return this.camera.lens(...this.extent()); }

  look(name) { this.camera.view(name, ...this.extent()); }

  toggleParallel() {
    this.camera.parallel = !this.camera.parallel;
    this.camera.changed();
  }

  toggle(model, kind, on) {
    const key = kind ? `${model.number}/${kind}` : `${model.number}`;
    if (on) this.hidden.delete(key); else this.hidden.add(key);
    this.stage.show(this.visible);
    this.invalidate();
  }

  hover(x, y, pin = false) {
    const pick = pickAt(this.data, this.lens(), this.shift, this.visible, x, y);
    if (pin) this.pinned = pick;
    if (pin || !this.pinned) this.tell(pick);
  }

  unhover() { if (!this.pinned) this.tell(null); }

  unpin() { this.pinned = null; this.tell(null); }

  step(by) {
    const list = differences(this.data, this.visible);
    if (!list.length) return;
    const now = list.findIndex((one) => one.model === this.pinned?.model && one.edge === this.pinned?.edge);
    this.pinned = list[now < 0 ? (by > 0 ? 0 : list.length - 1) : (now + by + list.length) % list.length];
    this.tell(this.pinned);
  }

  tell(pick) {
    const same = pick?.model === this.shown?.model && pick?.edge === this.shown?.edge && pick?.vertex === this.shown?.vertex;
    if (same) return;
    this.shown = pick;
    this.stage.highlight(pick);
    const detail = pick ? describe(this.data, pick) : null;
    this.words.textContent = detail ? detail.words : HINT;
    this.words.classList.toggle("picked", Boolean(detail));
    this.element.dispatchEvent(new CustomEvent("viewer:pick", { detail, bubbles: true }));
    this.invalidate();
  }

  /* Draws once, at the next frame, however often it is asked. */
  invalidate() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => { this.pending = 0; this.draw(); });
  }

  draw() {
    const lens = this.lens();
    this.stage.draw(lens, this.radius + Math.hypot(...this.shift));
    this.overlay.draw(lens);
    this.parallelButton.setAttribute("aria-pressed", String(lens.parallel));
    if (this.element.dataset.ready) return;
    this.element.dataset.ready = "1";
    this.element.dispatchEvent(new CustomEvent("viewer:ready", { detail: this, bubbles: true }));
  }

  themed() {
    this.stage.recolour(colours(this.element));
    this.invalidate();
  }
}

const viewers = new Set();

function say(element, words) {
  const alert = Object.assign(document.createElement("p"), { className: "alert error", textContent: words });
  alert.setAttribute("role", "alert");
  element.replaceChildren(alert);
}

async function start(element) {
  try {
    const answer = await fetch(element.dataset.src, { headers: { Accept: "application/json" }, credentials: "same-origin" });
    if (!answer.ok) {
      const problem = /json/.test(answer.headers.get("Content-Type") || "") ? await answer.json() : {};
      throw new Error(problem.detail || `The 3D data could not be loaded (${answer.status}); load the page again.`);
    }
    const data = parse(await answer.json());
    if (!data.models.some((model) => model.nVertices)) { element.textContent = "There is nothing to show: no model has a vertex."; return; }
    viewers.add(new Viewer(element, data));
  } catch (error) {
    say(element, error instanceof TypeError ? "The 3D data could not be loaded; check the network and load the page again." : error.message);
  }
}

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting) { near.unobserve(target); start(target); }
  }
}, { rootMargin: "300px" });

const watch = (root) => root.querySelectorAll(".viewer[data-src]:not([data-watched])").forEach((element) => {
  element.dataset.watched = "1";
  near.observe(element);
});
watch(document);
document.addEventListener("htmx:load", (event) => watch(event.target.parentElement || document));

const recolour = () => viewers.forEach((viewer) => viewer.themed());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
new MutationObserver(recolour).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
