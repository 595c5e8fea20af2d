/* What every 3D view does: a camera it may share, a frame drawn only when something changed, a read-out, keys. */

import { sharedCamera } from "./camera.js";
import { keys, pointers } from "./input.js";
import { colours } from "./styles.js";

let count = 0;

export class BaseViewer {
  constructor(element, data) {
    this.element = element;
    this.data = data;
    const shared = sharedCamera(element.dataset.sync, data.origin);
    this.camera = shared.camera;
    this.shift = data.origin.map((value, axis) => value - shared.origin[axis]);
    this.pinned = this.shown = null;
  }

  makeStageElement(label) {
    const stage = document.createElement("div");
    stage.className = "viewer-stage";
    stage.tabIndex = 0;
    stage.setAttribute("role", "application");
    stage.setAttribute("aria-roledescription", "3D view");
    stage.setAttribute("aria-label", label);
    if (this.element.dataset.height) stage.style.height = `${Number(this.element.dataset.height)}px`;
    this.stageElement = stage;
    return stage;
  }

  makeWords(hint) {
    this.hint = hint;
    this.words = Object.assign(document.createElement("p"), { className: "viewer-words", textContent: hint, id: `viewer-words-${count += 1}` });
    this.words.setAttribute("role", "status");
    return this.words;
  }

  /* `gl` makes the drawing with WebGL, `flat` the one without; `apology` is said where only that is left. */
  makeStage(gl, flat, apology) {
    try {
      const stage = gl();
      stage.element.addEventListener("webglcontextrestored", () => this.invalidate());
      this.element.dataset.renderer = "webgl";
      return stage;
    } catch {
      this.element.dataset.renderer = "flat";
      this.words.before(Object.assign(document.createElement("p"), { className: "viewer-note", textContent: apology }));
      return flat();
    }
  }

  /* Last: everything is built, so input may come and the first frame be drawn. */
  begin() {
    pointers(this.stageElement, this);
    keys(this.stageElement, this);
    new ResizeObserver(() => this.resized()).observe(this.stageElement);
    this.stage.recolour(colours(this.element));
    this.camera.listeners.add(() => this.invalidate());
    if (!this.camera.touched) this.look("reset");
    this.invalidate();
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

  unhover() { if (!this.pinned) this.tell(null); }

  unpin() { this.pinned = null; this.tell(null); }

  /* Puts what was picked into words, for people and for scripts of the page. */
  announce(detail) {
    this.words.textContent = detail ? detail.words : this.hint;
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
    this.paint(lens);
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
