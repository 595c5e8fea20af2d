/* The file of meshes the server sends (leaderboard/viewer/mesh_scene.py says what is in it), as typed arrays. No drawing here. */

const TYPES = { float32: Float32Array, uint32: Uint32Array, uint8: Uint8Array };
const MAGIC = "PLM1";

export function unpack(buffer) {
  const start = new Uint8Array(buffer, 0, Math.min(8, buffer.byteLength));
  if (String.fromCharCode(...start.subarray(0, 4)) !== MAGIC) throw new Error("The 3D data are no meshes; load the page again.");
  const length = new DataView(buffer).getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const read = ({ type, at, shape }) => new TYPES[type](buffer, 8 + length + at, shape.reduce((a, b) => a * b, 1));
  header.models = header.models.map((model) => ({
    ...model, ...Object.fromEntries(Object.entries(model.arrays).map(([name, place]) => [name, read(place)])), total: { vertices: model.vertices, faces: model.faces },
  }));
  return header;
}

/* One or two files of the same item -> {unit, origin, longest, models}: the reference first, then the predictions.
   `distances` of a model has one array for each prediction (of a prediction: the one to the reference), or null;
   `spreads` says how far they go, and `spread` of the whole that of all together. */
export function merged(files) {
  const [first] = files;
  const models = [];
  const reference = first.models.find((model) => model.role === "reference");
  const letter = (place) => (files.length > 1 ? `${"AB"[place]} ` : "");
  if (reference) models.push({ ...shaped(reference, "reference"), distances: files.map((file) => file.models[0].distances ?? null) });
  files.forEach((file, place) => {
    const found = file.models.find((model) => model.role === "prediction");
    if (found) models.push({ ...shaped(found, place ? "prediction_b" : "prediction"), name: letter(place) + found.name, distances: [found.distances ?? null] });
  });
  models.forEach((model, number) => Object.assign(model, { number, spreads: model.distances.map((one) => one && spread([one])) }));
  const predictions = files.map((file, place) => letter(place) + (file.models.find((model) => model.role === "prediction")?.name ?? "the prediction"));
  return {
    unit: first.unit && first.unit !== "unitless" ? first.unit : "", origin: first.origin, longest: first.longest_side, models, predictions,
    spread: spread(models.flatMap((model) => model.distances.filter(Boolean))), exact: files.every((file) => file.models.every((model) => model.exact)),
  };
}

const shaped = (model, role) => ({
  name: model.name, role, positions: model.positions, faces: model.faces, sides: model.sides, colours: model.colours ?? null,
  nVertices: model.positions.length / 3, nFaces: model.faces.length / 3, total: model.total, simplified: model.simplified,
});

/* The distances a model is coloured by: the reference's to prediction number `versus`. */
export const distancesOf = (model, versus) => model.distances[model.role === "reference" ? versus : 0];

export const vertexAt = (model, index) => Array.from(model.positions.subarray(3 * index, 3 * index + 3));

/* {largest, high}: the greatest value and the 95th percentile (the least value that 95 % do not exceed) of arrays taken together. */
export function spread(arrays) {
  const all = new Float32Array(arrays.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of arrays) { all.set(one, at); at += one.length; }
  if (!all.length) return null;
  all.sort();
  return { largest: all[all.length - 1], high: all[Math.max(0, Math.ceil(0.95 * all.length) - 1)] };
}

/* Three numbers for each face: its unit normal, as its corners turn; nothing where it has no area. */
export function faceNormals({ positions, faces }) {
  const normals = new Float32Array(faces.length);
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [3 * faces[f], 3 * faces[f + 1], 3 * faces[f + 2]];
    const [ux, uy, uz] = [positions[b] - positions[a], positions[b + 1] - positions[a + 1], positions[b + 2] - positions[a + 2]];
    const [vx, vy, vz] = [positions[c] - positions[a], positions[c + 1] - positions[a + 1], positions[c + 2] - positions[a + 2]];
    const [x, y, z] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    const size = Math.hypot(x, y, z) || 1;
    normals[f] = x / size; normals[f + 1] = y / size; normals[f + 2] = z / size;
  }
  return normals;
}

/* The outermost vertices in many directions: enough to fit a camera to, and few. */
export function outline({ positions }) {
  const best = [];
  for (let x = -2; x <= 2; x += 1) for (let y = -2; y <= 2; y += 1) for (let z = -2; z <= 2; z += 1) {
    if (Math.max(Math.abs(x), Math.abs(y), Math.abs(z)) < 2) continue;
    let [most, found] = [-Infinity, -1];
    for (let i = 0; i < positions.length; i += 3) {
      const along = positions[i] * x + positions[i + 1] * y + positions[i + 2] * z;
      if (along > most) [most, found] = [along, i];
    }
    if (found >= 0) best.push(found / 3);
  }
  return [...new Set(best)];
}
