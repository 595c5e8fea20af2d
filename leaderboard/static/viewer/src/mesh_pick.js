/* What is under the pointer on a mesh: a ray through every triangle, in float64; and where the distances are worst. */

import { plain } from "./data.js";
import { distancesOf, faceNormals, vertexAt } from "./mesh_data.js";

/* {from, along} of the ray through a pixel of a picture that `lens` describes. */
export function ray(lens, x, y) {
  const across = (x - lens.width / 2) / lens.scale;
  const upwards = (lens.height / 2 - y) / lens.scale;
  const aside = [0, 1, 2].map((k) => lens.right[k] * across + lens.up[k] * upwards);
  // At the target's depth the point is `eye - back * distance + aside`.
  if (lens.parallel) return { from: aside.map((value, k) => value + lens.eye[k] + lens.back[k] * 1e3 * lens.distance), along: lens.back.map((value) => -value) };
  return { from: lens.eye, along: aside.map((value, k) => value - lens.back[k] * lens.distance) };
}

/* The nearest triangle along a ray: {model, face, depth, at}, or null. */
export function hit(model, { from, along }) {
  const { positions, faces } = model;
  const [dx, dy, dz] = along;
  let [depth, face] = [Infinity, -1];
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [3 * faces[f], 3 * faces[f + 1], 3 * faces[f + 2]];
    const [ax, ay, az] = [positions[a], positions[a + 1], positions[a + 2]];
    const [ux, uy, uz] = [positions[b] - ax, positions[b + 1] - ay, positions[b + 2] - az];
    const [vx, vy, vz] = [positions[c] - ax, positions[c + 1] - ay, positions[c + 2] - az];
    const [px, py, pz] = [dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx];
    const turn = ux * px + uy * py + uz * pz;
    if (turn === 0) continue;
    const [wx, wy, wz] = [from[0] - ax, from[1] - ay, from[2] - az];
    const s = (wx * px + wy * py + wz * pz) / turn;
    if (s < 0 || s > 1) continue;
    const [qx, qy, qz] = [wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux];
    const t = (dx * qx + dy * qy + dz * qz) / turn;
    if (t < 0 || s + t > 1) continue;
    const here = (vx * qx + vy * qy + vz * qz) / turn;
    if (here > 0 && here < depth) [depth, face] = [here, f / 3];
  }
  return face < 0 ? null : { model, face, depth, at: from.map((value, k) => value + along[k] * depth) };
}

/* The corner of a hit face that is nearest to where it was hit: {model, face, vertex}. */
export function corner({ model, face, at }) {
  const corners = Array.from(model.faces.subarray(3 * face, 3 * face + 3));
  const gap = (index) => Math.hypot(...vertexAt(model, index).map((value, k) => value - at[k]));
  return { model, face, vertex: corners.reduce((best, index) => (gap(index) < gap(best) ? index : best)) };
}

/* The worst vertices of all models, each well away from the worse ones before it: [{model, vertex}…], at most `most`. */
export function worst(data, models, versus, most = 12) {
  const apart = 0.08 * data.longest;
  const all = models.flatMap((model) => {
    const distances = distancesOf(model, versus);
    if (!distances) return [];
    // Only the highest may be spots, or sorting a hundred thousand would be felt.
    const order = Array.from(distances.keys()).filter((index) => distances[index] > 0).sort((a, b) => distances[b] - distances[a]).slice(0, 20000);
    const spots = [];
    for (const vertex of order) {
      const here = vertexAt(model, vertex);
      if (spots.length >= most) break;
      if (spots.every((spot) => Math.hypot(...here.map((value, k) => value - spot.place[k])) > apart)) spots.push({ model, vertex, place: here, value: distances[vertex] });
    }
    return spots;
  });
  return all.sort((a, b) => b.value - a.value).slice(0, most).map(({ model, vertex }) => ({ model, vertex }));
}

/* A distance in the unit chosen, as a number of a few digits: "0.0123", or "1.23" in percent of the longest side. */
export const lengthNumber = (data, value, share) => String(Number((share && data.longest ? (100 * value) / data.longest : value).toPrecision(3)));

export const unitOf = (data, share) => (share && data.longest ? "%" : data.unit);

export const lengthWords = (data, value, share) => [lengthNumber(data, value, share), unitOf(data, share)].filter(Boolean).join(" ");

/* What the picked vertex is, with true coordinates: for people (`words`) and for scripts. */
export function describe(data, { model, face, vertex }, { versus, share, normals }) {
  const coordinates = vertexAt(model, vertex).map((value, axis) => value + data.origin[axis]);
  const distance = distancesOf(model, versus)?.[vertex];
  const target = model.role === "reference" ? data.predictions[versus] : "the reference";
  const far = distance === undefined ? "nothing to measure to" : `${lengthWords(data, distance, share)}${share ? " of the reference’s longest side" : ""} from the surface of ${target}`;
  let turned = "";
  let normal = null;
  if (normals && face !== undefined) {
    normal = Array.from(faceNormals({ positions: model.positions, faces: model.faces.subarray(3 * face, 3 * face + 3) }));
    turned = `, normal (${normal.map((value) => plain(value, 3)).join(", ")})`;
  }
  const place = `(${coordinates.map((value) => plain(value, 4)).join(", ")})${data.unit ? ` ${data.unit}` : ""}`;
  return { model: model.name, role: model.role, vertex, coordinates, distance, normal, words: `${model.name}: ${far}${turned}, at ${place}` };
}
