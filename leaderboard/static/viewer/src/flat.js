/* The same picture as lines in an SVG, for browsers without WebGL: same camera, same styles, far lines first. */

import { at, byClass } from "./data.js";
import { project } from "./camera.js";
import { line, marker, styleOf, svg } from "./styles.js";

export class FlatStage {
  constructor(host, data, shift) {
    this.data = data;
    this.shift = shift;
    this.element = svg("svg", { class: "flat" });
    host.append(this.element);
    this.visible = () => true;
    this.spot = null;
  }

  recolour() {} // custom properties colour it already

  show(visible) { this.visible = visible; }

  highlight(pick) { this.spot = pick; }

  draw(lens, radius, [width, height] = [lens.width, lens.height], panels = null) {
    this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    if (!panels) this.element.replaceChildren(...this.drawn(lens));
    else this.element.replaceChildren(...panels.map(({ models, ...frame }) => {
      this.visible = (model) => models.includes(model.number);
      return svg("svg", { ...frame, viewBox: `0 0 ${frame.width} ${frame.height}` }, ...this.drawn(lens));
    }));
  }

  drawn(lens) {
    const place = (model, index) => project(lens, Array.from(at(model, index), (value, axis) => value + this.shift[axis]));
    const drawn = [];
    for (const model of this.data.models) {
      for (const { kind, edges, vertices } of byClass(model)) {
        if (!this.visible(model, kind)) continue;
        const style = styleOf(model.role, kind);
        const layer = model.role === "reference" ? 0 : 1;
        for (const index of edges) {
          const [from, to] = model.edges[index].map((end) => place(model, end));
          if (from[2] > 0 && to[2] > 0) drawn.push([layer, -(from[2] + to[2]) / 2, line(style, from, to)]);
        }
        for (const index of vertices) {
          const point = place(model, index);
          if (point[2] > 0) drawn.push([layer + 2, -point[2], marker(style, point)]);
        }
      }
    }
    drawn.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    return [...drawn.map(([, , element]) => element), ...this.spotted(place)];
  }

  spotted(place) {
    if (!this.spot) return [];
    const { model, edge, vertex } = this.spot;
    const style = { colour: "--ink", width: 6, opacity: 1, size: 15, marker: "dot" };
    if (edge === undefined) return [marker(style, place(model, vertex))];
    const [from, to] = model.edges[edge];
    return [line(style, place(model, from), place(model, to))];
  }
}
