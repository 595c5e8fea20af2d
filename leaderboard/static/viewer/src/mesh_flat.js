/* The same picture of meshes without WebGL: every triangle filled into an image, the nearest one kept at each pixel. */

import { project } from "./camera.js";
import { normalColour, rgb, viridis } from "./colours.js";
import { distancesOf, faceNormals } from "./mesh_data.js";

const BEHIND = 0.62; // how bright a face is from behind

export class FlatMeshStage {
  constructor(host, data, shift) {
    Object.assign(this, { data, shift });
    this.element = document.createElement("canvas");
    this.element.className = "flat";
    host.append(this.element);
    this.normals = data.models.map(faceNormals);
  }

  recolour(colour) { this.colour = colour; }

  draw(lens, radius, [width, height], panels, look) {
    if (this.element.width !== width || this.element.height !== height) Object.assign(this.element, { width, height });
    const pen = this.element.getContext("2d");
    pen.clearRect(0, 0, width, height);
    for (const panel of panels) {
      const [w, h] = [Math.round(panel.width), Math.round(panel.height)];
      // The reference lies over the rest as a veil: with its depth, but mixed with what is there.
      const veiled = panel.models.length > 1;
      const picture = { w, h, image: pen.createImageData(w, h) };
      for (const number of panel.models.filter((one) => !veiled || this.data.models[one].role !== "reference")) this.fill(picture, number, lens, look, veiled, 1);
      if (veiled) {
        const veil = { w, h, image: pen.createImageData(w, h), depth: picture.depth?.slice() };
        panel.models.filter((one) => this.data.models[one].role === "reference").forEach((number) => this.fill(veil, number, lens, { ...look, mode: look.mode === "distance" ? "shaded" : look.mode }, veiled, 1));
        mix(picture.image.data, veil.image.data, 0.4);
      }
      pen.putImageData(picture.image, panel.x, panel.y);
    }
  }

  fill(picture, number, lens, look, veiled) {
    const model = this.data.models[number];
    const { positions, faces } = model;
    picture.depth ??= new Float32Array(picture.w * picture.h).fill(Infinity);
    const places = new Float32Array(positions.length);
    for (let i = 0; i < positions.length; i += 3) places.set(project(lens, [0, 1, 2].map((k) => positions[i + k] + this.shift[k])), i);
    const paint = this.painter(model, number, lens, look, veiled);
    for (let f = 0; f < faces.length; f += 3) {
      const [a, b, c] = [3 * faces[f], 3 * faces[f + 1], 3 * faces[f + 2]];
      if (places[a + 2] > 0 && places[b + 2] > 0 && places[c + 2] > 0) triangle(picture, places, a, b, c, paint, f);
    }
  }

  /* A face's colour, once it is known to be seen. */
  painter(model, number, lens, look, veiled) {
    const normals = this.normals[number];
    const clay = rgb(this.colour(veiled && model.role !== "reference" ? "--matched" : "--clay"));
    const distances = look.mode === "distance" ? distancesOf(model, look.versus) : null;
    const size = Math.hypot(0.35, 0.3, 1);
    const light = [0, 1, 2].map((k) => (0.35 * lens.up[k] - 0.3 * lens.right[k] + lens.back[k]) / size);
    return (f, front) => {
      const normal = [normals[f], normals[f + 1], normals[f + 2]];
      if (look.mode === "normals") return normalColour(normal);
      const facing = (normal[0] * light[0] + normal[1] * light[1] + normal[2] * light[2]) * (front ? 1 : -1);
      const shade = 0.32 + 0.68 * Math.max(0, facing);
      if (distances) {
        const far = (distances[model.faces[f]] + distances[model.faces[f + 1]] + distances[model.faces[f + 2]]) / 3;
        return viridis(far / (look.range || 1)).map((value) => value * (0.78 + 0.22 * shade));
      }
      const base = model.colours && !veiled ? Array.from(model.colours.subarray(f, f + 3)) : clay;
      return base.map((value) => value * shade * (front ? 1 : BEHIND));
    };
  }
}

function triangle({ w, h, image, depth }, places, a, b, c, paint, f) {
  const [ax, ay, bx, by, cx, cy] = [places[a], places[a + 1], places[b], places[b + 1], places[c], places[c + 1]];
  const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
  if (area === 0) return;
  let colour = null;
  const [left, right] = [Math.max(0, Math.floor(Math.min(ax, bx, cx))), Math.min(w - 1, Math.ceil(Math.max(ax, bx, cx)))];
  const [top, bottom] = [Math.max(0, Math.floor(Math.min(ay, by, cy))), Math.min(h - 1, Math.ceil(Math.max(ay, by, cy)))];
  for (let y = top; y <= bottom; y += 1) for (let x = left; x <= right; x += 1) {
    const s = ((x + 0.5 - ax) * (cy - ay) - (cx - ax) * (y + 0.5 - ay)) / area;
    const t = ((bx - ax) * (y + 0.5 - ay) - (x + 0.5 - ax) * (by - ay)) / area;
    if (s < 0 || t < 0 || s + t > 1) continue;
    const far = places[a + 2] + s * (places[b + 2] - places[a + 2]) + t * (places[c + 2] - places[a + 2]);
    const at = y * w + x;
    if (far >= depth[at]) continue;
    depth[at] = far;
    colour ??= [...paint(f, area < 0), 255]; // y is down: what turns to the left is seen from the front
    image.data.set(colour, 4 * at);
  }
}

/* Lays `over` on `under` where it has something. */
function mix(under, over, part) {
  for (let i = 0; i < under.length; i += 4) {
    if (!over[i + 3]) continue;
    const kept = under[i + 3] ? 1 - part : 0;
    for (let k = 0; k < 3; k += 1) under[i + k] = kept ? under[i + k] * kept + over[i + k] * part : over[i + k];
    under[i + 3] = under[i + 3] ? 255 : 255 * part;
  }
}
