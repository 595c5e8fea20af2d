/* What a rating page is sent of one question, as the stages draw it. No drawing here.

   Wireframes come as in data.js. Meshes come as {form: "mesh", unit, models: [{name, role, file}]}, each file one mesh
   as in mesh_data.js. Nothing says whose they are: `name` is left, right or reference. */

import { parse } from "./data.js";
import { unpack } from "./mesh_data.js";

/* `get(address, kind)` -> parsed JSON or an ArrayBuffer. */
export async function load(scene, address, get) {
  return scene.form === "mesh" ? meshes(scene, address, get) : parse(scene);
}

async function meshes(scene, address, get) {
  const models = await Promise.all(scene.models.map(async ({ name, role, file }, number) => {
    const [mesh] = unpack(await get(new URL(file, address).href, "bytes")).models;
    return {
      name, role, number, positions: mesh.positions, faces: mesh.faces, sides: mesh.sides, colours: mesh.colours ?? null,
      nVertices: mesh.positions.length / 3, nFaces: mesh.faces.length / 3, simplified: mesh.simplified, distances: [null],
    };
  }));
  return { unit: scene.unit && scene.unit !== "unitless" ? scene.unit : "", origin: [0, 0, 0], models };
}

export const isEmpty = (model) => !(model.nFaces ?? model.edges.length + model.nVertices);

/* Which models each panel shows, by how the reference is to be seen: over (laid under what is judged), beside, or off. */
export function contents(models, reference) {
  const number = (name) => models.findIndex((model) => model.name === name);
  const [truth, left, right] = ["reference", "left", "right"].map(number);
  const with_ = (one) => (reference === "over" && truth >= 0 ? [truth, one] : [one]);
  if (right >= 0) return reference === "beside" && truth >= 0 ? [[left], [truth], [right]] : [with_(left), with_(right)];
  return reference === "off" || truth < 0 ? [[left]] : [with_(left), [truth]];
}
