/* Draws meshes with three.js: one canvas, a panel for each picture of it. Every triangle has corners of its own, so that
   it is flat, has one colour of its material, and knows its sides. It draws when told to and never by itself. */

import {
  BufferAttribute, BufferGeometry, Color, DataTexture, DoubleSide, GLSL3, LinearFilter, Mesh, OrthographicCamera, PerspectiveCamera, RGBAFormat, Scene, ShaderMaterial, Vector3,
} from "three";
import { table } from "./colours.js";
import { cleared, makeRenderer, pose, within } from "./gl.js";
import { distancesOf, faceNormals } from "./mesh_data.js";

export const MODES = ["shaded", "distance", "normals"];

const VERTEX = `
in vec3 facing; in vec3 paint; in vec3 inside; in float far;
out vec3 vFacing; out vec3 vPaint; out vec3 vInside; out float vFar;
void main() {
  vFacing = facing; vPaint = paint; vInside = inside; vFar = far;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

/* "inside" is 1 at a corner and 0 along the side across from it; a side that only splitting made stays at 1. */
const FRAGMENT = `
uniform int mode; uniform bool painted; uniform bool measured; uniform vec3 clay; uniform vec3 ink; uniform vec3 light;
uniform float range; uniform float wire; uniform float alpha; uniform sampler2D scale;
in vec3 vFacing; in vec3 vPaint; in vec3 vInside; in float vFar;
out vec4 colour;
void main() {
  vec3 normal = normalize(vFacing + vec3(1e-9));
  vec3 front = gl_FrontFacing ? normal : -normal;
  float shade = 0.32 + 0.68 * max(dot(front, light), 0.0);
  vec3 base = painted ? vPaint : clay;
  vec3 shown = base * shade * (gl_FrontFacing ? 1.0 : 0.62);
  if (mode == 1) shown = (measured ? texture(scale, vec2((clamp(vFar / range, 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb : clay) * mix(0.78, 1.0, shade);
  if (mode == 2) shown = normal * 0.5 + 0.5;
  if (wire > 0.0) {
    vec3 step = max(fwidth(vInside), vec3(1e-6));
    vec3 near = 1.0 - smoothstep(vec3(0.4), vec3(1.3), vInside / step);
    // Triangles of a few pixels would be all line.
    float crowd = 1.0 - smoothstep(0.3, 0.7, max(step.x, max(step.y, step.z)));
    shown = mix(shown, ink, wire * max(crowd, 0.12) * max(near.x, max(near.y, near.z)));
  }
  colour = vec4(shown, alpha);
}`;

function geometryOf(model) {
  const { positions, faces, sides, colours } = model;
  const corners = faces.length;
  const place = new Float32Array(3 * corners);
  const facing = new Int16Array(3 * corners);
  const inside = new Uint8Array(3 * corners);
  const paint = new Uint8Array(3 * corners);
  const normals = faceNormals(model);
  for (let i = 0; i < corners; i += 1) {
    const face = Math.floor(i / 3);
    for (let k = 0; k < 3; k += 1) {
      place[3 * i + k] = positions[3 * faces[i] + k];
      facing[3 * i + k] = Math.round(32767 * normals[3 * face + k]);
      if (colours) paint[3 * i + k] = colours[3 * face + k];
      // The side from corner k to the next is across from the corner after that.
      const across = (k + 1) % 3;
      inside[3 * i + k] = (i % 3 === k || !((sides[face] >> across) & 1)) ? 255 : 0;
    }
  }
  return new BufferGeometry()
    .setAttribute("position", new BufferAttribute(place, 3))
    .setAttribute("facing", new BufferAttribute(facing, 3, true))
    .setAttribute("inside", new BufferAttribute(inside, 3, true))
    .setAttribute("paint", new BufferAttribute(paint, 3, true))
    .setAttribute("far", new BufferAttribute(new Float32Array(corners), 1));
}

export class MeshStage {
  constructor(host, data, shift, renderer = makeRenderer(host)) {
    this.renderer = renderer;
    this.element = renderer.domElement;
    this.scene = new Scene();
    this.perspective = new PerspectiveCamera();
    this.orthographic = new OrthographicCamera();
    for (const camera of [this.perspective, this.orthographic]) camera.matrixAutoUpdate = false;
    const scale = new DataTexture(table(), 256, 1, RGBAFormat);
    scale.minFilter = scale.magFilter = LinearFilter;
    scale.needsUpdate = true;
    this.shared = { mode: { value: 0 }, range: { value: 1 }, wire: { value: 0 }, light: { value: new Vector3() }, scale: { value: scale }, ink: { value: new Color() } };
    this.parts = data.models.map((model) => this.part(model, shift));
  }

  part(model, shift) {
    const own = { painted: { value: false }, measured: { value: false }, clay: { value: new Color() }, alpha: { value: 1 } };
    const material = new ShaderMaterial({ glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: DoubleSide, uniforms: { ...this.shared, ...own } });
    const mesh = new Mesh(geometryOf(model), material);
    mesh.position.set(...shift);
    mesh.frustumCulled = false;
    this.scene.add(mesh);
    return { model, mesh, material, own, versus: -1 };
  }

  recolour(colour) { this.colour = colour; }

  /* Which prediction the reference is coloured against. */
  measure(part, versus) {
    if (part.versus === versus) return;
    part.versus = versus;
    const distances = distancesOf(part.model, versus);
    part.own.measured.value = Boolean(distances);
    if (!distances) return;
    const far = part.mesh.geometry.getAttribute("far");
    const { faces } = part.model;
    for (let i = 0; i < faces.length; i += 1) far.array[i] = distances[faces[i]];
    far.needsUpdate = true;
  }

  /* `panels`: [{x, y, width, height, models: [number…]}] in CSS pixels, y down; several models in one are laid over each other. */
  draw(lens, radius, extent, panels, look) {
    cleared(this.renderer, ...extent);
    const camera = pose(lens, radius, this.perspective, this.orthographic);
    const { shared } = this;
    shared.mode.value = MODES.indexOf(look.mode);
    shared.range.value = look.range || 1;
    shared.wire.value = look.wire ? 0.75 : 0;
    shared.light.value.set(...[0, 1, 2].map((k) => 0.35 * lens.up[k] - 0.3 * lens.right[k] + lens.back[k])).normalize();
    plainColour(shared.ink.value, this.colour("--ink"));
    this.parts.forEach((part) => this.measure(part, look.versus));
    for (const panel of panels) {
      within(this.renderer, panel, extent[1]);
      this.panel(panel, camera, look);
    }
  }

  panel({ models }, camera, look) {
    const laid = models.length > 1;
    const solid = models.filter((number) => !laid || this.parts[number].model.role !== "reference");
    this.only(solid, laid, look);
    this.renderer.render(this.scene, camera);
    const veil = models.filter((number) => !solid.includes(number));
    if (!veil.length) return;
    // First its depth alone, so that only its foremost layer is laid over the picture.
    for (const step of ["depth", "colour"]) {
      this.only(veil, laid, look, step);
      this.renderer.render(this.scene, camera);
    }
  }

  only(numbers, laid, look, step) {
    this.parts.forEach((part, number) => {
      part.mesh.visible = numbers.includes(number);
      if (!part.mesh.visible) return;
      const { material, own, model } = part;
      material.transparent = Boolean(step);
      material.colorWrite = step !== "depth";
      own.alpha.value = step ? 0.4 : 1;
      own.painted.value = Boolean(model.colours) && !laid;
      plainColour(own.clay.value, this.colour(laid && !step ? "--matched" : "--clay"));
      if (step && look.mode === "distance") own.measured.value = false;
    });
    if (!step) this.parts.forEach((part) => { part.own.measured.value = Boolean(distancesOf(part.model, look.versus)); });
  }
}

/* Colours go to the screen as they are: the shader computes with what CSS says. */
const plainColour = (target, text) => target.setStyle(text, "");
