/* What the server sends, checked and put into flat arrays. No drawing here.

   {unit, origin: [x, y, z], models: [{name, role, vertices, edges, vertex_class, edge_class}]}
   Coordinates are the true ones minus `origin`, so they are small; adding it back is exact to the
   last bits of a float64, which is why it happens here and never on the graphics card. */

export const ROLES = ["reference", "prediction", "prediction_b"];
export const CLASSES = ["matched", "missed", "extra"];
/* "ignored": the metrics did not look at this one (a doubled edge); "plain": nothing here was classed. */
const KINDS = [...CLASSES, "ignored", "plain"];

const known = (list, index) => (CLASSES.includes(list?.[index]) ? list[index] : list ? "ignored" : "plain");

function model(raw, number) {
  const vertices = Float64Array.from(raw.vertices.flat());
  const edges = raw.edges;
  if (edges.flat().some((end) => !(end >= 0 && end < raw.vertices.length))) throw new Error(`The 3D data of ${raw.name} has an edge without its vertex.`);
  return {
    number,
    name: raw.name || raw.role,
    role: ROLES.includes(raw.role) ? raw.role : "prediction",
    vertices,
    edges,
    nVertices: raw.vertices.length,
    vertexClass: Array.from({ length: raw.vertices.length }, (_, i) => known(raw.vertex_class, i)),
    edgeClass: edges.map((_, i) => known(raw.edge_class, i)),
  };
}

export function parse(raw) {
  if (!Array.isArray(raw?.models)) throw new Error("The 3D data has no list of models.");
  return {
    unit: raw.unit && raw.unit !== "unitless" ? raw.unit : "",
    origin: raw.origin || [0, 0, 0],
    models: raw.models.map(model),
  };
}

/* Vertex `index` where the viewer's scene has it: small numbers, relative to the data's origin. */
export const at = (one, index) => one.vertices.subarray(3 * index, 3 * index + 3);

/* The same vertex in the challenge's own coordinates. */
export const world = (data, one, index) => Array.from(at(one, index), (value, axis) => value + data.origin[axis]);

export function edgeLength(one, index) {
  const [a, b] = one.edges[index];
  const p = at(one, a);
  const q = at(one, b);
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

/* {low, high} over all models, or null where nothing has a vertex. */
export function bounds(data) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const { vertices } of data.models) {
    for (let i = 0; i < vertices.length; i += 1) {
      low[i % 3] = Math.min(low[i % 3], vertices[i]);
      high[i % 3] = Math.max(high[i % 3], vertices[i]);
    }
  }
  return Number.isFinite(low[0]) ? { low, high } : null;
}

/* [{kind, edges: [index…], vertices: [index…]}] in the order of KINDS, empty ones left out. */
export function byClass(one) {
  const parts = KINDS.map((kind) => ({
    kind,
    edges: one.edgeClass.flatMap((value, index) => (value === kind ? [index] : [])),
    vertices: one.vertexClass.flatMap((value, index) => (value === kind ? [index] : [])),
  }));
  return parts.filter((part) => part.edges.length || part.vertices.length);
}

/* A number as people write it: at most `places` decimals, none that are only zeros. */
export function plain(value, places = 6) {
  const text = value.toFixed(places);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
