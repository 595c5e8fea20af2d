/* The buttons above the pictures, and the keys that do the same. */

import { make } from "./words.js";

export class Tools {
  constructor(element, view) {
    Object.assign(this, { element, view, buttons: new Map() });
    this.build();
  }

  /* The same buttons stay, so that none loses the focus. */
  build() {
    const groups = this.view.tools();
    this.heads = groups.map((group) => {
      const head = make("span", { className: "rate-group-words" }, group.words || "");
      const box = make("div", { className: "rate-group" });
      box.setAttribute("role", "group");
      const buttons = group.map((tool) => {
        const button = make("button", { type: "button", className: "small", title: `${tool.title} (${tool.label})` }, tool.words, make("kbd", {}, tool.label));
        button.setAttribute("aria-keyshortcuts", tool.label);
        button.addEventListener("click", () => this.find(tool.key).act());
        this.buttons.set(tool.key, button);
        return button;
      });
      box.append(head, make("div", { className: "viewer-group" }, ...buttons));
      this.element.append(box);
      return head;
    });
    this.update();
  }

  find(key) { return this.view.tools().flat().find((tool) => tool.key === key); }

  update() {
    this.view.tools().forEach((group, place) => {
      const head = this.heads[place];
      const words = group.words || "";
      head.parentElement.hidden = group.every((tool) => tool.hidden);
      if (head.textContent !== words) head.textContent = words;
      head.parentElement.setAttribute("aria-label", words || "View");
      for (const tool of group) if (tool.down !== null) this.buttons.get(tool.key).setAttribute("aria-pressed", String(tool.down));
    });
  }

  /* Whether the key was one of these, and its act done. */
  press(key) {
    const tool = this.find(key);
    const act = this.view.keys()[key] || (tool?.hidden ? null : tool?.act);
    if (act) act();
    return Boolean(act);
  }

  /* [[key, what it does]] of every tool. */
  get words() { return this.view.tools().flat().map((tool) => [tool.label, tool.title]); }
}
