/* The view of meshes: the reference and one or two predictions, each in a panel, or laid over each other. */

import { arrange } from "./arrange.js";
import { BaseViewer } from "./base.js";
import { outline, vertexAt } from "./mesh_data.js";
import { FlatMeshStage } from "./mesh_flat.js";
import { MeshStage, MODES } from "./mesh_gl.js";
import { choices, figures, labels, marks, meshLegend, meshSummary, switches } from "./mesh_panel.js";
import { corner, describe, hit, ray, worst } from "./mesh_pick.js";
import { make, Overlay, toolbar } from "./panel.js";

const HINT = "Drag to turn, right-drag or two fingers to move, scroll to zoom; point at a mesh to read the distance there.";

export class MeshViewer extends BaseViewer {
  constructor(element, data) {
    super(element, data);
    this.settings = { mode: "shaded", overlay: false, wire: false, limit: "high", share: false, versus: 0 };
    this.measured = Boolean(data.spread);
    if (this.measured) this.settings.mode = "distance";
    this.hasDifferences = this.measured;
    this.stepWords = ["Next worst spot", "The next of the greatest distances (N, Shift+N back)"];
    const stage = this.makeStageElement(meshSummary(data));
    stage.classList.add("meshes");
    this.overlay = new Overlay(data.unit);
    this.legend = make("div", { className: "viewer-told" });
    this.choices = choices(this);
    this.switches = switches(this);
    element.replaceChildren(toolbar(this), this.switches.bar, stage, this.makeWords(HINT), make("div", { className: "viewer-scale-words" }, this.legend, this.choices), figures(data));
    this.stage = this.makeStage(
      () => new MeshStage(stage, data, this.shift), () => new FlatMeshStage(stage, data, this.shift),
      "This browser has no WebGL; the same view is drawn more plainly, without wires.",
    );
    this.labels = make("div", { className: "viewer-labels" });
    this.marks = marks();
    stage.append(this.labels, this.marks, this.overlay.bar, this.overlay.axes);
    this.radius = 0;
    for (const model of data.models) {
      for (const index of outline(model)) {
        const point = vertexAt(model, index);
        this.radius = Math.max(this.radius, Math.hypot(...point));
        this.camera.points.push(point.map((value, axis) => value + this.shift[axis]));
      }
    }
    this.radius ||= 1;
    this.change({});
    this.begin();
  }

  /* New settings; whatever follows from them is brought up to date. */
  change(settings) {
    Object.assign(this.settings, settings);
    const { mode, limit } = this.settings;
    this.range = this.data.spread ? this.data.spread[limit] : 0;
    this.spots = null;
    this.switches.show(this.settings);
    this.legend.replaceChildren(...meshLegend(this));
    this.choices.hidden = mode !== "distance";
    if (settings.share !== undefined) this.element.querySelector(".viewer-figures").replaceWith(figures(this.data, this.settings));
    if (this.shown) this.announce(describe(this.data, this.shown, this.reading()));
    if (this.stage) this.resized();
  }

  reading() { return { versus: this.settings.versus, share: this.settings.share, normals: this.settings.mode === "normals" }; }

  /* [{x, y, width, height, models}]: side by side where the stage is wide, else below each other. */
  panels() {
    const size = [Math.max(1, this.stageElement.clientWidth), Math.max(1, this.stageElement.clientHeight)];
    const numbers = this.data.models.map((model) => model.number);
    if (this.settings.overlay) return arrange(...size, [numbers]);
    // A prediction stands to either side of its reference.
    const order = numbers.length === 3 ? [1, 0, 2] : numbers;
    return arrange(...size, order.map((number) => [number]));
  }

  extent() {
    const [{ width, height }] = this.panels();
    return [width, height];
  }

  press(key) {
    const { mode, overlay, wire } = this.settings;
    const modes = MODES.filter((one) => one !== "distance" || this.measured);
    if (key === "m") this.change({ mode: modes[(modes.indexOf(mode) + 1) % modes.length] });
    else if (key === "o" && this.data.models.length > 1) this.change({ overlay: !overlay });
    else if (key === "w") this.change({ wire: !wire });
    else if (key === "u") this.turnUp();
    else return false;
    return true;
  }

  turnUp() {
    this.camera.yUp = !this.camera.yUp;
    this.camera.fit(...this.extent());
  }

  pickAt(x, y) {
    const panel = this.panels().find((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
    if (!panel) return null;
    const { from, along } = ray(this.lens(), x - panel.x, y - panel.y);
    const start = from.map((value, axis) => value - this.shift[axis]);
    const hits = panel.models.map((number) => hit(this.data.models[number], { from: start, along })).filter(Boolean);
    // The reference is only a veil over the predictions, where both are in one picture.
    const behind = (one) => (panel.models.length > 1 && one.model.role === "reference" ? 1 : 0);
    hits.sort((a, b) => behind(a) - behind(b) || a.depth - b.depth);
    return hits.length ? corner(hits[0]) : null;
  }

  hover(x, y, pin = false) {
    if (!pin && this.pinned) return;
    const pick = () => {
      this.waiting = 0;
      const found = this.pickAt(x, y);
      if (pin) this.pinned = found;
      this.tell(found);
    };
    // A mesh has many triangles: only where the pointer is when a frame is due is looked up.
    cancelAnimationFrame(this.waiting);
    if (pin) pick(); else this.waiting = requestAnimationFrame(pick);
  }

  step(by) {
    this.spots ||= worst(this.data, this.data.models, this.settings.versus);
    if (!this.spots.length) return;
    const now = this.spots.findIndex((one) => one.model === this.pinned?.model && one.vertex === this.pinned?.vertex);
    this.pinned = this.spots[now < 0 ? (by > 0 ? 0 : this.spots.length - 1) : (now + by + this.spots.length) % this.spots.length];
    this.tell(this.pinned);
  }

  tell(pick) {
    if (pick?.model === this.shown?.model && pick?.vertex === this.shown?.vertex && pick?.face === this.shown?.face) return;
    this.shown = pick;
    this.announce(pick ? describe(this.data, pick, this.reading()) : null);
  }

  paint(lens) {
    const panels = this.panels();
    const size = [Math.max(1, this.stageElement.clientWidth), Math.max(1, this.stageElement.clientHeight)];
    this.stage.draw(lens, this.radius + Math.hypot(...this.shift), size, panels, { ...this.settings, range: this.range });
    this.labels.replaceChildren(...labels(this.data, panels));
    const spot = this.shown && vertexAt(this.shown.model, this.shown.vertex).map((value, axis) => value + this.shift[axis]);
    this.marks.show(spot, lens, panels);
    this.switches.up(this.camera.yUp);
  }
}
