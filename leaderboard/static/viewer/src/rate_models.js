/* The models of one question after the other, in one picture: panels of the same size, seen by one camera.
   One WebGL context serves all questions, and the next one lies ready on the graphics card before it is shown. */

import { arrange } from "./arrange.js";
import { Camera } from "./camera.js";
import { normalColour } from "./colours.js";
import { at } from "./data.js";
import { FlatStage } from "./flat.js";
import { dispose, GlStage, makeRenderer, warm } from "./gl.js";
import { pointers } from "./input.js";
import { outline, vertexAt } from "./mesh_data.js";
import { FlatMeshStage } from "./mesh_flat.js";
import { MeshStage } from "./mesh_gl.js";
import { make, Overlay } from "./panel.js";
import { contents, isEmpty, load } from "./rate_data.js";
import { colours, styleOf, swatch } from "./styles.js";

const TURN = Math.PI / 36; // one press of a key
const MOVE = 40; // pixels
const ROUND = 16; // seconds the turntable needs
const GAP = 8; // pixels between panels
const NAMES = { left: "Left", right: "Right", reference: "Reference" };

export class RateModels {
  /* `changed()` is called when a tool's state or the legend changed, by hand or by itself. */
  constructor(host, form, changed) {
    Object.assign(this, { host, form, changed });
    this.settings = { mode: "shaded", reference: form === "mesh" ? "beside" : "over", turning: false };
    this.camera = new Camera();
    this.stageElement = make("div", { className: "rate-canvas" });
    this.frames = make("div", { className: "rate-frames" });
    this.overlay = new Overlay("");
    host.append(this.stageElement, this.frames, this.overlay.bar, this.overlay.axes);
    try {
      this.renderer = makeRenderer(this.stageElement);
      this.renderer.domElement.addEventListener("webglcontextrestored", () => this.invalidate());
      host.dataset.renderer = "webgl";
    } catch {
      host.dataset.renderer = "flat";
    }
    this.now = null;
    pointers(host, this);
    host.addEventListener("pointerdown", () => this.turn(false));
    host.addEventListener("wheel", () => this.turn(false), { passive: true });
    new ResizeObserver(() => this.resized()).observe(host);
    this.camera.listeners.add(() => this.invalidate());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.themed());
    new MutationObserver(() => this.themed()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  }

  // ---- one question after the other ----

  /* Everything that showing the question needs; nothing of it is seen yet. */
  async prepare(scene, address, get) {
    const data = await load(scene, address, get);
    const ready = { data, points: points(data), stage: this.makeStage(data) };
    ready.radius = Math.max(1e-9, ...ready.points.map((point) => Math.hypot(...point)));
    ready.stage.recolour(colours(this.host));
    if (this.renderer) warm(this.renderer, ready.stage.scene);
    return ready;
  }

  makeStage(data) {
    const shift = [0, 0, 0];
    if (this.renderer) return new (this.form === "mesh" ? MeshStage : GlStage)(this.stageElement, data, shift, this.renderer);
    const stage = new (this.form === "mesh" ? FlatMeshStage : FlatStage)(this.stageElement, data, shift);
    stage.element.remove();
    return stage;
  }

  /* Seen in the next frame; what one looked from stays, how much of it is fitted anew. */
  show(ready) {
    if (!this.renderer) this.stageElement.replaceChildren(ready.stage.element);
    ready.stage.recolour(colours(this.host));
    const first = !this.now;
    this.now = ready;
    this.overlay.unit = ready.data.unit;
    this.reach();
    this.camera.touched = false;
    this.fit();
    if (first && this.form === "mesh") this.turn(!matchMedia("(prefers-reduced-motion: reduce)").matches);
    this.invalidate();
  }

  drop(ready) { if (this.renderer) dispose(ready.stage.scene); }

  /* {name: words} of what is empty. */
  get empty() { return this.now.data.models.filter(isEmpty).map((model) => model.name); }

  // ---- the camera ----

  panels() {
    const size = [Math.max(1, this.host.clientWidth), Math.max(1, this.host.clientHeight)];
    return arrange(...size, contents(this.now.data.models, this.settings.reference), GAP);
  }

  extent() {
    const [{ width, height }] = this.panels();
    return [width, height];
  }

  /* What the camera has to show: going round, everything that comes by. */
  reach() {
    if (!this.now) return;
    const { points: all } = this.now;
    this.camera.points = this.form === "mesh" ? swept(all, this.camera.yUp) : all;
  }

  lens() { return this.camera.lens(...this.extent()); }

  fit() { if (this.now) this.camera.fit(...this.extent()); }

  resized() { if (!this.camera.touched) this.fit(); this.invalidate(); }

  look(name) {
    this.turn(false);
    this.camera.view(name, ...this.extent());
  }

  turnUp() {
    this.camera.yUp = !this.camera.yUp;
    this.reach();
    this.fit();
    this.changed();
  }

  hover() {}

  unhover() {}

  turn(on) {
    if (this.settings.turning === on) return;
    this.settings.turning = on;
    this.before = performance.now();
    this.changed();
    this.invalidate();
  }

  // ---- drawing ----

  change(settings) {
    Object.assign(this.settings, settings);
    if (!this.camera.touched) this.fit();
    this.changed();
    this.invalidate();
  }

  themed() {
    this.now?.stage.recolour(colours(this.host));
    this.invalidate();
  }

  invalidate() {
    if (this.pending) return;
    this.pending = requestAnimationFrame((time) => { this.pending = 0; this.draw(time); });
  }

  draw(time) {
    if (!this.now) return;
    if (this.settings.turning) {
      this.camera.azimuth += (2 * Math.PI * Math.min(100, Math.max(0, time - this.before))) / 1000 / ROUND;
      this.before = time;
    }
    const panels = this.panels();
    const lens = this.lens();
    const { data, stage, radius } = this.now;
    const reach = radius + Math.hypot(...this.camera.target);
    stage.draw(lens, reach, [Math.max(1, this.host.clientWidth), Math.max(1, this.host.clientHeight)], panels, { mode: this.settings.mode, versus: 0 });
    this.overlay.draw(lens);
    this.frame(data, panels);
    if (this.settings.turning) this.invalidate();
  }

  /* A frame with its name around every panel; made again only where something moved. */
  frame(data, panels) {
    const key = JSON.stringify([panels, data.models.map(isEmpty)]);
    if (this.framed === key) return;
    this.framed = key;
    this.frames.replaceChildren(...panels.map(({ x, y, width, height, models }) => {
      const judged = data.models[models.at(-1)];
      const words = data.models.some((model) => model.name === "right") || judged.name === "reference" ? NAMES[judged.name] : "To be judged";
      const empty = isEmpty(judged) ? [make("span", { className: "rate-nothing" }, "Empty: nothing was built here")] : [];
      const frame = make("div", { className: "rate-frame", style: `left:${x}px;top:${y}px;width:${width}px;height:${height}px` }, make("b", {}, words), ...empty);
      frame.dataset.side = judged.name;
      return frame;
    }));
  }

  // ---- what a person can do, for the buttons and the keys ----

  /* [[{words, title, key, act, down}]]: groups; `key` as in KeyboardEvent.key, `down` where it is a switch. */
  tools() {
    const { settings, camera } = this;
    const act = (words, key, title, run, down = null, label = key.toUpperCase()) => ({ words, key, title, act: run, down, label });
    const set = (name, value, words, key, title) => act(words, key, title, () => this.change({ [name]: value }), settings[name] === value);
    const groups = [
      [
        act("Fit", "r", "Back to the first view", () => this.look("reset")),
        act("Top", "t", "From above", () => this.look("top")),
        act("Front", "f", "From the front, along +y", () => this.look("front")),
        act("Side", "s", "From the side, along −x", () => this.look("side")),
      ],
      [
        set("reference", "over", "Over", "o", "The reference in the same picture"),
        set("reference", "beside", "Beside", "b", "The reference in a picture of its own"),
        set("reference", "off", "Off", "x", "Without the reference"),
      ],
    ];
    groups[1].words = "Reference";
    if (this.form === "mesh") {
      groups.push([
        set("mode", "shaded", "Shaded", "c", "Lit from the side, in the files’ colours"),
        set("mode", "normals", "Normals", "n", "Coloured by where each face points"),
      ]);
      groups[2].words = "Surface";
    }
    groups.push([
      act("Turntable", "g", "Goes round by itself", () => this.turn(!settings.turning), settings.turning),
      act("Parallel", "p", "Without perspective", () => { camera.parallel = !camera.parallel; camera.changed(); this.changed(); }, camera.parallel),
      act("y up", "y", "Turn what is drawn along y upright, as in glTF", () => this.turnUp(), camera.yUp),
    ]);
    return groups;
  }

  /* Keys that have no button: {key: act}; with shift, the arrows. */
  keys() {
    const turn = (x, y) => () => { this.turn(false); this.camera.rotate(x * TURN, y * TURN); };
    const move = (x, y) => () => this.camera.pan(x * MOVE, y * MOVE, this.lens());
    const zoom = (factor) => () => this.camera.zoom(factor);
    return {
      "shift+ArrowLeft": turn(-1, 0), "shift+ArrowRight": turn(1, 0), "shift+ArrowUp": turn(0, 1), "shift+ArrowDown": turn(0, -1),
      j: move(1, 0), l: move(-1, 0), i: move(0, 1), k: move(0, -1),
      "+": zoom(1.2), "=": zoom(1.2), "-": zoom(1 / 1.2), _: zoom(1 / 1.2),
    };
  }

  /* [[keys, what they do]] for the page's list of keys. */
  static keyWords = [["Shift + arrows", "turn"], ["I J K L", "move"], ["+ −", "zoom"]];

  static hint = "drag to turn, right-drag to move, scroll to zoom";

  /* What lines and colours mean now: [node…]. */
  legend() {
    const { mode, reference } = this.settings;
    const item = (sample, words) => make("span", {}, sample, words);
    if (this.form !== "mesh") {
      return [
        item(swatch(styleOf("prediction", "plain")), "thin line with dots: what you judge"),
        ...(reference === "off" ? [] : [item(swatch(styleOf("reference", "plain")), "wide pale band: the reference, how it is in truth")]),
      ];
    }
    if (mode === "normals") {
      const chip = (name, place) => item(make("i", { className: "rate-chip", style: `background:rgb(${normalColour([0, 1, 2].map((k) => (k === place % 3 ? (place < 3 ? 1 : -1) : 0))).join(" ")})` }), name);
      return [make("span", {}, "Colour: where a face points"), ...["+x", "+y", "+z", "−x", "−y", "−z"].map(chip)];
    }
    if (reference === "over") {
      const chip = (name) => make("i", { className: "rate-chip", style: `background:var(${name})` });
      return [item(chip("--matched"), "solid: what you judge"), item(chip("--clay"), "see-through veil: the reference, how it is in truth")];
    }
    return [make("span", {}, "Darker: a face seen from behind")];
  }
}

function points(data) {
  return data.models.flatMap((model) => (model.positions
    ? outline(model).map((index) => vertexAt(model, index))
    : Array.from({ length: model.nVertices }, (_, index) => Array.from(at(model, index)))));
}

/* The points on their way round the upright axis through their middle, in 16 steps. */
function swept(all, yUp) {
  const [u, v] = yUp ? [0, 2] : [0, 1];
  const middle = (axis) => {
    const values = all.map((point) => point[axis]);
    return values.length ? (Math.min(...values) + Math.max(...values)) / 2 : 0;
  };
  const [mu, mv] = [middle(u), middle(v)];
  const rings = all.map((point) => [Math.hypot(point[u] - mu, point[v] - mv), point[yUp ? 1 : 2]]);
  return Array.from({ length: 16 }, (_, step) => (step * Math.PI) / 8).flatMap((angle) => rings.map(([radius, height]) => {
    const point = [0, 0, 0];
    point[u] = mu + radius * Math.cos(angle);
    point[v] = mv + radius * Math.sin(angle);
    point[yUp ? 1 : 2] = height;
    return point;
  }));
}
