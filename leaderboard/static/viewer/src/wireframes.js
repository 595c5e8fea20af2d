/* The view of wireframes: the reference under one or two predictions, every edge told apart. */

import { BaseViewer } from "./base.js";
import { bounds } from "./data.js";
import { FlatStage } from "./flat.js";
import { GlStage } from "./gl.js";
import { legend, Overlay, summary, toolbar } from "./panel.js";
import { describe, differences, pickAt } from "./pick.js";

const HINT = "Drag to turn, right-drag or two fingers to move, scroll to zoom; point at an edge or vertex to read it.";

export class Viewer extends BaseViewer {
  constructor(element, data) {
    super(element, data);
    this.hidden = new Set();
    this.visible = (model, kind) => !this.hidden.has(`${model.number}`) && !this.hidden.has(`${model.number}/${kind}`);
    this.hasDifferences = differences(data, () => true).length > 0;
    const stage = this.makeStageElement(summary(data));
    this.overlay = new Overlay(data.unit);
    element.replaceChildren(toolbar(this), stage, this.makeWords(HINT), legend(this));
    this.stage = this.makeStage(
      () => new GlStage(stage, data, this.shift), () => new FlatStage(stage, data, this.shift),
      "This browser has no WebGL; the same model is drawn with plain lines.",
    );
    stage.append(this.overlay.bar, this.overlay.axes);
    const box = bounds(data);
    this.radius = box ? Math.hypot(...box.low.map((value, axis) => box.high[axis] - value)) / 2 || 1 : 1;
    for (const { vertices } of data.models) {
      for (let i = 0; i < vertices.length; i += 3) this.camera.points.push([0, 1, 2].map((k) => vertices[i + k] + this.shift[k]));
    }
    this.begin();
  }

  toggle(model, kind, on) {
    const key = kind ? `${model.number}/${kind}` : `${model.number}`;
    if (on) this.hidden.delete(key); else this.hidden.add(key);
    this.stage.show(this.visible);
    this.invalidate();
  }

  hover(x, y, pin = false) {
    const pick = pickAt(this.data, this.lens(), this.shift, this.visible, x, y);
    if (pin) this.pinned = pick;
    if (pin || !this.pinned) this.tell(pick);
  }

  step(by) {
    const list = differences(this.data, this.visible);
    if (!list.length) return;
    const now = list.findIndex((one) => one.model === this.pinned?.model && one.edge === this.pinned?.edge);
    this.pinned = list[now < 0 ? (by > 0 ? 0 : list.length - 1) : (now + by + list.length) % list.length];
    this.tell(this.pinned);
  }

  tell(pick) {
    const same = pick?.model === this.shown?.model && pick?.edge === this.shown?.edge && pick?.vertex === this.shown?.vertex;
    if (same) return;
    this.shown = pick;
    this.stage.highlight(pick);
    this.announce(pick ? describe(this.data, pick) : null);
  }

  paint(lens) { this.stage.draw(lens, this.radius + Math.hypot(...this.shift)); }
}
