/* What is asked about the pictures: one criterion after the other, each with its buttons. */

import { CHOICES, GRADES, make } from "./words.js";

const ARROWS = { left: "←", tie: "↓", right: "→" };
const CHOICE_KEYS = { ArrowLeft: "left", ArrowRight: "right", ArrowDown: "tie", " ": "tie" };

export class Ask {
  /* `answered(value)` is called with left, tie, right or a number from 1 to 5. */
  constructor(element, kind, answered) {
    this.kind = kind;
    this.words = element.querySelector("[data-part=criterion]");
    this.place = element.querySelector("[data-part=answers]");
    const options = kind === "opinions" ? Object.keys(GRADES).map(Number) : Object.keys(CHOICES);
    this.buttons = options.map((value) => {
      const button = kind === "opinions"
        ? make("button", { type: "button" }, make("b", {}, String(value)), make("span", {}, GRADES[value]))
        : make("button", { type: "button" }, make("kbd", {}, ARROWS[value]), make("span", {}, CHOICES[value]));
      button.value = String(value);
      button.setAttribute("aria-keyshortcuts", kind === "opinions" ? String(value) : { left: "ArrowLeft", tie: "ArrowDown Space", right: "ArrowRight" }[value]);
      button.addEventListener("click", () => answered(value));
      return button;
    });
    this.place.dataset.kind = kind;
    this.place.replaceChildren(...this.buttons);
  }

  /* The value a key stands for, or null. */
  value(key) {
    if (this.kind === "opinions") return GRADES[key] ? Number(key) : null;
    return CHOICE_KEYS[key] ?? null;
  }

  show(criteria, step) {
    const now = criteria[step];
    const several = criteria.length > 1 ? [make("span", { className: "rate-step" }, `${step + 1} of ${criteria.length}`)] : [];
    const title = now?.title ? [make("b", {}, now.title)] : [];
    const text = now?.text ? [make("span", { className: "soft" }, now.text)] : [];
    this.words.replaceChildren(...several, ...title, ...text);
    this.words.hidden = !this.words.childNodes.length;
  }

  enable(on) { this.buttons.forEach((button) => { button.disabled = !on; }); }

  /* A glimpse of what was chosen. */
  flash(value) {
    this.buttons.forEach((button) => button.classList.toggle("chosen", button.value === String(value)));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.buttons.forEach((button) => button.classList.remove("chosen")), 250);
  }
}
