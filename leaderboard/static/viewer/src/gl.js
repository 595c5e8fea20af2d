/* Draws with three.js: fat lines with real widths and dashes, markers as small textures. It draws when
   told to and never by itself. */

import {
  BufferAttribute, BufferGeometry, CanvasTexture, Fog, Group, Matrix4, OrthographicCamera, PerspectiveCamera, Points, PointsMaterial, Scene, WebGLRenderer, WebGLRenderTarget,
} from "three";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";
import { at, byClass } from "./data.js";
import { styleOf } from "./styles.js";

function markerTexture(kind) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext("2d");
  pen.strokeStyle = pen.fillStyle = "#fff";
  pen.lineWidth = 12;
  pen.beginPath();
  if (kind === "ring") { pen.arc(32, 32, 24, 0, 7); pen.stroke(); }
  else if (kind === "cross") { pen.moveTo(9, 9); pen.lineTo(55, 55); pen.moveTo(55, 9); pen.lineTo(9, 55); pen.stroke(); }
  else { pen.arc(32, 32, 30, 0, 7); pen.fill(); }
  return new CanvasTexture(canvas);
}

export function makeRenderer(host) {
  const renderer = new WebGLRenderer({ antialias: true, alpha: true, powerPreference: "low-power" });
  renderer.autoClear = false;
  host.append(renderer.domElement);
  return renderer;
}

/* Gives the picture its size in CSS pixels, once it changes, and empties it: how many pixels of the screen one of these is. */
export function cleared(renderer, width, height) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const size = `${width} ${height} ${ratio}`;
  if (renderer.domElement.dataset.size !== size) {
    renderer.domElement.dataset.size = size;
    renderer.setPixelRatio(ratio);
    renderer.setSize(width, height, false);
  }
  renderer.setScissorTest(false);
  renderer.setViewport(0, 0, width, height);
  renderer.clear();
  return ratio;
}

/* What is drawn next goes into this part of the picture; y is down. */
export function within(renderer, { x, y, width, height }, whole) {
  const place = [x, whole - y - height, width, height];
  renderer.setScissorTest(true);
  renderer.setViewport(...place);
  renderer.setScissor(...place);
}

/* Brings everything of a scene to the graphics card, so that its first picture is as quick as the next. */
export function warm(renderer, scene) {
  const target = new WebGLRenderTarget(1, 1);
  renderer.setRenderTarget(target);
  renderer.render(scene, new PerspectiveCamera());
  renderer.setRenderTarget(null);
  target.dispose();
}

export function dispose(scene) {
  scene.traverse((object) => {
    object.geometry?.dispose();
    object.material?.dispose();
  });
}

/* A renderer may be shared by stages that are drawn in turn. */
export class GlStage {
  constructor(host, data, shift, renderer = makeRenderer(host)) {
    this.renderer = renderer;
    this.element = renderer.domElement;
    this.scene = new Scene();
    this.root = new Group();
    this.root.position.set(...shift);
    this.scene.add(this.root);
    this.scene.fog = new Fog(0xffffff, 1, 2);
    this.perspective = new PerspectiveCamera();
    this.orthographic = new OrthographicCamera();
    for (const camera of [this.perspective, this.orthographic]) camera.matrixAutoUpdate = false;
    this.textures = Object.fromEntries(["dot", "ring", "cross"].map((kind) => [kind, markerTexture(kind)]));
    this.parts = [];
    data.models.forEach((model) => byClass(model).forEach((part) => this.add(model, part)));
    this.spot = null;
  }

  add(model, { kind, edges, vertices }) {
    const style = styleOf(model.role, kind);
    const order = model.role === "reference" ? (kind === "missed" ? 1 : 0) : 2;
    if (edges.length) this.keep(this.lines(edges.flatMap((index) => model.edges[index].flatMap((end) => Array.from(at(model, end)))), style, order), model, kind, style);
    if (vertices.length) this.keep(this.points(vertices.flatMap((index) => Array.from(at(model, index))), style, order), model, kind, style);
  }

  keep(object, model, kind, style) {
    this.root.add(object);
    this.parts.push({ object, model, kind, style });
  }

  /* Everything counts as transparent, so that three.js draws it in our order: the reference lies under the prediction. */
  lines(positions, style, order) {
    const geometry = new LineSegmentsGeometry().setPositions(positions);
    const material = new LineMaterial({ linewidth: style.width, dashed: Boolean(style.dash), transparent: true, opacity: style.opacity, depthWrite: style.opacity === 1, fog: true });
    if (style.dash) [material.dashSize, material.gapSize] = style.dash;
    const object = new LineSegments2(geometry, material);
    if (style.dash) object.computeLineDistances();
    object.renderOrder = order;
    object.frustumCulled = false;
    return object;
  }

  points(positions, style, order) {
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
    const material = new PointsMaterial({ size: style.size, sizeAttenuation: false, map: this.textures[style.marker], alphaTest: 0.35, transparent: true, opacity: Math.min(1, style.opacity + 0.3), depthWrite: false, fog: true });
    const object = new Points(geometry, material);
    object.renderOrder = order + 3;
    object.frustumCulled = false;
    return object;
  }

  recolour(colour) {
    this.colour = colour;
    for (const { object, style } of this.parts) object.material.color.set(colour(style.colour));
    this.scene.fog.color.set(colour("--panel"));
  }

  show(visible) {
    for (const { object, model, kind } of this.parts) object.visible = visible(model, kind);
  }

  /* The picked thing, over everything else: {model, edge} or {model, vertex}, or null. */
  highlight(pick) {
    if (this.spot) {
      this.root.remove(this.spot);
      this.spot.geometry.dispose();
      this.spot.material.dispose();
      this.spot = null;
    }
    if (!pick) return;
    const style = { width: 6, size: 15, opacity: 1, marker: "dot" };
    const { model } = pick;
    this.spot = pick.edge === undefined
      ? this.points(Array.from(at(model, pick.vertex)), style, 9)
      : this.lines(model.edges[pick.edge].flatMap((end) => Array.from(at(model, end))), style, 9);
    this.spot.material.depthTest = false;
    this.spot.material.color.set(this.colour("--ink"));
    this.root.add(this.spot);
  }

  /* `panels`: [{x, y, width, height, models: [number…]}] in CSS pixels, y down, all of the lens's size; without them one picture. */
  draw(lens, radius, [width, height] = [lens.width, lens.height], panels = null) {
    const ratio = cleared(this.renderer, width, height);
    const camera = pose(lens, radius, this.perspective, this.orthographic);
    this.scene.fog.near = lens.distance - radius;
    this.scene.fog.far = lens.distance + 3.5 * radius; // the far side keeps more than half of its ink
    for (const { object, style } of this.parts) {
      if (object.material.isLineMaterial) { if (style.dash) object.material.dashScale = lens.scale; } else object.material.size = style.size * ratio;
    }
    if (this.spot && !this.spot.material.isLineMaterial) this.spot.material.size = 15 * ratio;
    if (!panels) this.renderer.render(this.scene, camera);
    for (const panel of panels || []) {
      this.show((model) => panel.models.includes(model.number));
      within(this.renderer, panel, height);
      this.renderer.render(this.scene, camera);
    }
  }
}

/* Sets the camera that the lens asks for and returns it. */
export function pose(lens, radius, perspective, orthographic) {
  const { eye, right, up, back, distance } = lens;
  const camera = lens.parallel ? orthographic : perspective;
  camera.near = lens.parallel ? distance - 1e3 * radius : Math.max(distance / 1000, distance - 4 * radius);
  camera.far = distance + (lens.parallel ? 1e3 : 8) * radius;
  if (lens.parallel) {
    [camera.right, camera.top] = [lens.width / 2 / lens.scale, lens.height / 2 / lens.scale];
    [camera.left, camera.bottom] = [-camera.right, -camera.top];
  } else {
    camera.fov = (lens.fovY * 180) / Math.PI;
    camera.aspect = lens.width / lens.height;
  }
  camera.updateProjectionMatrix();
  camera.matrix.copy(new Matrix4().set(right[0], up[0], back[0], eye[0], right[1], up[1], back[1], eye[1], right[2], up[2], back[2], eye[2], 0, 0, 0, 1));
  camera.updateMatrixWorld(true);
  return camera;
}
