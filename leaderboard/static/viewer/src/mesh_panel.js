/* The words around meshes: switches, colour bar, figures, names over the panels, the mark of what is picked. */

import { project } from "./camera.js";
import { gradient, normalColour } from "./colours.js";
import { lengthNumber, lengthWords } from "./mesh_pick.js";
import { counted, make } from "./panel.js";
import { svg } from "./styles.js";

const WORDS = { shaded: "Shaded", distance: "Distance", normals: "Normals" };
const grouped = (number) => number.toLocaleString("en");

/* Groups of buttons of which one is down, and buttons that are down or up. */
export function switches(viewer) {
  const bar = make("div", { className: "viewer-tools viewer-switches" });
  const buttons = [];
  const add = (group, words, title, act, down) => {
    const button = make("button", { type: "button", className: "small", title }, words);
    button.addEventListener("click", act);
    buttons.push({ button, down });
    group.append(button);
    return button;
  };
  const group = (label) => {
    const element = make("div", { className: "viewer-group" });
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", label);
    bar.append(element);
    return element;
  };
  const colouring = group("Colouring");
  for (const mode of Object.keys(WORDS)) {
    const button = add(colouring, WORDS[mode], `${WORDS[mode]} (M for the next)`, () => viewer.change({ mode }), (it) => it.mode === mode);
    if (mode === "distance" && !viewer.measured) Object.assign(button, { disabled: true, title: "There is nothing to measure a distance to" });
  }
  if (viewer.data.models.length > 1) {
    const layout = group("Layout");
    add(layout, "Side by side", "Each mesh in a panel of its own (O)", () => viewer.change({ overlay: false }), (it) => !it.overlay);
    add(layout, "Overlay", "The reference as a veil over the rest (O)", () => viewer.change({ overlay: true }), (it) => it.overlay);
  }
  const more = group("Drawing");
  add(more, "Wires", "The sides of the faces (W)", () => viewer.change({ wire: !viewer.settings.wire }), (it) => it.wire);
  const upright = add(more, "y up", "Turn what is drawn along y upright, as in glTF (U)", () => viewer.turnUp(), null);
  return {
    bar,
    show: (settings) => buttons.forEach(({ button, down }) => { if (down) button.setAttribute("aria-pressed", String(down(settings))); }),
    up: (yUp) => upright.setAttribute("aria-pressed", String(yUp)),
  };
}

function choice(words, options, chosen, act) {
  const select = make("select", { className: "small" }, ...options.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
  select.addEventListener("change", () => act(select.value));
  return make("label", {}, `${words} `, select);
}

/* What the colours mean now. */
export function meshLegend(viewer) {
  const { data, settings: { mode } } = viewer;
  if (mode === "normals") {
    const chips = ["+x", "+y", "+z", "−x", "−y", "−z"].map((name, place) => {
      const axis = [0, 1, 2].map((k) => (k === place % 3 ? (place < 3 ? 1 : -1) : 0));
      return make("span", { className: "viewer-chip" }, Object.assign(make("i"), { style: `background:rgb(${normalColour(axis).join(" ")})` }), name);
    });
    return [make("p", {}, "Colour: where a face points. Turned-over faces have the opposite colour."), make("p", { className: "viewer-chips" }, ...chips)];
  }
  if (mode === "shaded") {
    const coloured = data.models.some((model) => model.colours);
    return [make("p", {}, coloured ? "Colour: as in the file, side by side. Darker: a face seen from behind." : "The files have no colours. Darker: a face seen from behind.")];
  }
  return [distanceWords(viewer), colourBar(viewer)];
}

function distanceWords({ data, settings }) {
  const [first] = data.predictions;
  const from = data.predictions.length > 1 ? "Predictions: distance to the reference." : `${first}: distance to the reference.`;
  const note = data.exact ? "" : " These meshes are so unlike that some distances are upper bounds.";
  return make("p", {}, `${from} Reference: distance to ${data.predictions[settings.versus]}, so what is missing there shows.${note}`);
}

function colourBar({ data, settings, range }) {
  const bar = make("div", { className: "viewer-bar", style: `background:${gradient}` });
  const clipped = data.spread.largest > range;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => make("span", {}, `${part === 1 && clipped ? "≥ " : ""}${lengthNumber(data, part * range, settings.share)}`));
  const told = settings.share ? "% of the reference’s longest side" : data.unit || "the files’ own unit";
  const caption = make("div", { className: "viewer-caption" }, make("b", {}, "Distance"), ` in ${told}`);
  const box = make("div", { className: "viewer-colours" }, caption, bar, make("div", { className: "viewer-ticks" }, ...ticks));
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", `Colours from dark violet at 0 to yellow at ${lengthWords(data, range, settings.share)}, in ${told}`);
  return box;
}

/* What a person may choose of the colours of distances. */
export function choices(viewer) {
  const { data } = viewer;
  const found = [
    choice("Scale ends at", [["high", "the 95th percentile of all vertices shown"], ["largest", "the maximum"]], "high", (limit) => viewer.change({ limit })),
    choice("Unit", [["", data.unit || "of the files"], ["share", "% of the reference’s longest side"]], "", (value) => viewer.change({ share: Boolean(value) })),
  ];
  if (data.predictions.length > 1) {
    found.push(choice("Reference coloured by its distance to", data.predictions.map((name, place) => [String(place), name]), "0", (versus) => viewer.change({ versus: Number(versus) })));
  }
  return make("div", { className: "viewer-choices" }, ...found);
}

/* The distances as numbers, for those who do not see the colours, and what is not drawn as it is. */
export function figures(data, { share } = {}) {
  const row = (tag, cells) => make("tr", {}, ...cells.map((cell, place) => {
    const element = make(place ? tag : "th", { className: place ? "n" : "" }, ...[cell].flat());
    if (tag === "th" || !place) element.scope = tag === "th" ? "col" : "row";
    return element;
  }));
  const told = (value) => (value === undefined ? "–" : lengthWords(data, value, share));
  const rows = data.models.flatMap((model) => model.distances.map((distances, place) => {
    const found = distances && model.spreads[place];
    const target = model.role === "reference" ? data.predictions[place] : "the reference";
    return row("td", [[model.name, make("span", {}, ` to ${target}`)], grouped(model.total.faces), told(found?.high), told(found?.largest)]);
  }));
  const table = make("table", {}, make("thead", {}, row("th", ["Distance from", "Faces", "95th percentile", "Maximum"])), make("tbody", {}, ...rows));
  const wrap = make("div", { className: "viewer-table", tabIndex: 0 }, table);
  wrap.setAttribute("role", "region");
  wrap.setAttribute("aria-label", "Distances in numbers");
  const notes = data.models.filter((model) => model.simplified).map((model) => make("p", {}, `${model.name}: shown simplified to ${grouped(model.nFaces)} faces, its vertices joined within the cells of a grid; scores are of the whole mesh.`));
  const how = make("p", {}, `Over the vertices shown; each distance is ${data.exact ? "exact, " : ""}to the nearest point of the other’s whole surface. Large faces are split, so that their middles have a colour too.`);
  return make("div", { className: "viewer-figures" }, wrap, ...notes, how);
}

export function meshSummary(data) {
  const parts = data.models.map((model) => {
    const told = model.spreads[0] ? `, at most ${lengthWords(data, model.spreads[0].largest)} from ${model.role === "reference" ? data.predictions[0] : "the reference"}` : "";
    return `${model.name} with ${counted(model.total.faces, "face", "faces")}${told}`;
  });
  return `3D view of ${parts.join(" beside ")}. Arrow keys turn, shift and arrows move, plus and minus zoom, R resets, M changes the colouring, O lays the meshes over each other, W draws wires, N goes to the next worst spot.`;
}

export const labels = (data, panels) => panels.map(({ x, y, width, models }) => {
  const names = models.map((number) => data.models[number].name).join(" · ");
  return make("span", { style: `left:${x}px;top:${y}px;max-width:${width}px`, title: names }, names);
});

/* A ring at the same place in every panel. */
export function marks() {
  const element = svg("svg", { class: "viewer-marks", "aria-hidden": "true" });
  element.show = (spot, lens, panels) => {
    const rings = spot ? panels.flatMap(({ x, y, width, height }) => {
      const [u, v, depth] = project(lens, spot);
      if (depth <= 0 || u < 0 || v < 0 || u > width || v > height) return [];
      return ["under", "over"].map((name) => svg("circle", { class: name, cx: x + u, cy: y + v, r: 7 }));
    }) : [];
    element.replaceChildren(...rings);
  };
  return element;
}
