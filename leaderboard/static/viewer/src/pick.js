/* What is under the pointer, found in float64 on projected points: nearest vertex first, then nearest edge. */

import { at, edgeLength, plain, world } from "./data.js";
import { project } from "./camera.js";

const VERTEX_REACH = 10; // pixels
const EDGE_REACH = 8;

function toSegment(x, y, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const along = Math.max(0, Math.min(1, ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - a[0] - along * dx, y - a[1] - along * dy);
}

/* {model, vertex} or {model, edge} or null. Among equals a prediction wins over the reference it covers. */
export function pickAt(data, lens, shift, visible, x, y) {
  const best = { vertex: null, edge: null, vertexGap: VERTEX_REACH, edgeGap: EDGE_REACH };
  for (const model of data.models) {
    const places = Array.from({ length: model.nVertices }, (_, i) => project(lens, Array.from(at(model, i), (value, axis) => value + shift[axis])));
    places.forEach((place, vertex) => {
      if (place[2] <= 0 || !visible(model, model.vertexClass[vertex])) return;
      const gap = Math.hypot(x - place[0], y - place[1]);
      if (gap <= best.vertexGap) Object.assign(best, { vertex: { model, vertex }, vertexGap: gap });
    });
    model.edges.forEach(([from, to], edge) => {
      const [a, b] = [places[from], places[to]];
      if (a[2] <= 0 || b[2] <= 0 || !visible(model, model.edgeClass[edge])) return;
      const gap = toSegment(x, y, a, b);
      if (gap <= best.edgeGap) Object.assign(best, { edge: { model, edge }, edgeGap: gap });
    });
  }
  return best.vertex || best.edge;
}

const point = (coordinates) => `(${coordinates.map((value) => plain(value)).join(", ")})`;
const sort = (kind) => (kind === "plain" ? "" : `, ${kind}`);

/* What the picked thing is, with true coordinates: for people (`words`) and for scripts. */
export function describe(data, { model, edge, vertex }) {
  const unit = data.unit ? ` ${data.unit}` : "";
  if (edge === undefined) {
    const coordinates = world(data, model, vertex);
    return { model: model.name, role: model.role, vertex, kind: model.vertexClass[vertex], coordinates, words: `${model.name}: vertex ${vertex}${sort(model.vertexClass[vertex])} at ${point(coordinates)}${unit}` };
  }
  const ends = model.edges[edge].map((end) => world(data, model, end));
  const length = edgeLength(model, edge);
  return { model: model.name, role: model.role, edge, kind: model.edgeClass[edge], length, ends, words: `${model.name}: edge ${edge}${sort(model.edgeClass[edge])}, length ${plain(length)}${unit}, from ${point(ends[0])} to ${point(ends[1])}` };
}

/* Edges worth looking at, one after the other: missed and extra ones. */
export const differences = (data, visible) => data.models.flatMap((model) => model.edges.flatMap((_, edge) => (
  ["missed", "extra"].includes(model.edgeClass[edge]) && visible(model, model.edgeClass[edge]) ? [{ model, edge }] : [])));
