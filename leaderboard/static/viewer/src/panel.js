/* The words and buttons around the picture: tools, legend with counts, read-out, scale bar, axes. */

import { byClass, plain } from "./data.js";
import { scaleBar } from "./camera.js";
import { styleOf, svg, swatch } from "./styles.js";

export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
export const counted = (number, one, many) => `${number} ${number === 1 ? one : many}`;
const ROLE_WORDS = { reference: "reference", prediction: "prediction", prediction_b: "second prediction" };
const KIND_WORDS = { ignored: "not counted" };

export function toolbar(viewer) {
  const bar = make("div", { className: "viewer-tools" });
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", "View");
  const button = (words, title, act) => {
    const element = make("button", { type: "button", className: "small", title }, words);
    element.addEventListener("click", () => act(element));
    bar.append(element);
    return element;
  };
  button("Reset", "Back to the first view (R)", () => viewer.look("reset"));
  button("Top", "From above (T)", () => viewer.look("top"));
  button("Front", "From the front, along +y (F)", () => viewer.look("front"));
  button("Side", "From the side, along −x (S)", () => viewer.look("side"));
  viewer.parallelButton = button("Parallel", "Without perspective (P)", () => viewer.toggleParallel());
  viewer.parallelButton.setAttribute("aria-pressed", "false");
  if (viewer.hasDifferences) {
    const [words, title] = viewer.stepWords || ["Next difference", "The next missed or extra edge (N, Shift+N back)"];
    button(words, title, () => viewer.step(1));
  }
  if (document.fullscreenEnabled) {
    button("Full screen", "Fill the screen; again or Escape to leave", () => (document.fullscreenElement ? document.exitFullscreen() : viewer.element.requestFullscreen()));
  }
  return bar;
}

function check(words, checked, onchange) {
  const box = make("input", { type: "checkbox", checked });
  box.addEventListener("change", () => onchange(box.checked));
  return make("label", {}, box, ...words);
}

/* Every model and every class of it, with a sample of its line, its counts and a box to hide it. */
export function legend(viewer) {
  const groups = viewer.data.models.map((model) => {
    const rows = byClass(model).map(({ kind, edges, vertices }) => {
      const words = make("span", {}, kind === "plain" ? "" : make("b", {}, KIND_WORDS[kind] || kind), ` ${counted(edges.length, "edge", "edges")}, ${counted(vertices.length, "vertex", "vertices")}`);
      const row = check([swatch(styleOf(model.role, kind)), words], true, (on) => viewer.toggle(model, kind, on));
      row.dataset.kind = kind;
      return row;
    });
    const title = make("span", {}, make("b", {}, model.name), model.name === ROLE_WORDS[model.role] ? "" : ` ${ROLE_WORDS[model.role]}`);
    const head = check([title], true, (on) => viewer.toggle(model, null, on));
    const group = make("div", { className: "viewer-model" }, head, ...rows);
    group.dataset.role = model.role;
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", model.name);
    return group;
  });
  return make("div", { className: "viewer-legend" }, ...groups);
}

/* One sentence that says what the picture shows, for those who do not see it. */
export function summary(data) {
  const counts = data.models.map((model) => {
    const parts = byClass(model).filter((part) => part.edges.length).map(({ kind, edges }) => `${edges.length}${kind === "plain" ? "" : ` ${kind}`}`);
    return `${model.name} with ${counted(model.edges.length, "edge", "edges")}${parts.length ? ` (${parts.join(", ")})` : ""}`;
  });
  return `3D view of ${counts.join(" over ")}. Arrow keys turn, shift and arrows move, plus and minus zoom, R resets, N goes to the next difference.`;
}

export class Overlay {
  constructor(unit) {
    this.unit = unit;
    this.bar = make("div", { className: "viewer-scale" });
    this.axes = svg("svg", { class: "viewer-axes", width: 76, height: 76, viewBox: "-38 -38 76 76", "aria-hidden": "true" });
    this.arms = ["x", "y", "z"].map((name) => {
      const arm = { line: svg("line", { x1: 0, y1: 0 }), text: svg("text", {}, name) };
      this.axes.append(arm.line, arm.text);
      return arm;
    });
  }

  draw(lens) {
    const { length, pixels } = scaleBar(lens, Math.min(160, lens.width / 3));
    this.bar.style.width = `${pixels}px`;
    const places = Math.max(0, -Math.floor(Math.log10(length)));
    this.bar.textContent = `${plain(length, Math.min(12, places))}${this.unit ? ` ${this.unit}` : ""}`;
    this.arms.forEach(({ line, text }, axis) => {
      const [x, y] = [lens.right[axis] * 24, -lens.up[axis] * 24];
      line.setAttribute("x2", x);
      line.setAttribute("y2", y);
      text.setAttribute("x", x * 1.35);
      text.setAttribute("y", y * 1.35);
      text.setAttribute("opacity", lens.back[axis] < -0.95 ? 0.3 : 1);
    });
  }
}
