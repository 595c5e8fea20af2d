/* The regions of interest of a scene: <form data-regions="24"> with a <template> of one row and, for each view, a
   [data-view="0"] that holds .region-picture > img + svg and a list of [data-region="3"] (label, x1, y1, x2, y2, Delete).
   The rows are what is sent; the svg only shows them. Without this file rows are added and deleted by sending the form. */

const SVG = "http://www.w3.org/2000/svg";
const SMALLEST = 4; // px on the screen; what is smaller was a click

export function attach(form) {
  const most = Number(form.dataset.regions);
  const row = form.querySelector("template").content.firstElementChild;
  let changed = "changed" in form.dataset;
  const change = () => { changed = true; };
  form.addEventListener("submit", () => { changed = false; });
  window.addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
  const [mouse, finger] = ["fine", "coarse"].map((pointer) => matchMedia(`(any-pointer: ${pointer})`).matches);
  form.querySelectorAll("[data-drawing]").forEach((words) => { words.hidden = !mouse; });
  form.querySelectorAll("[data-finger]").forEach((button) => { button.hidden = !finger; });
  form.querySelectorAll("[data-view]").forEach((view) => {
    if (view.querySelector("ul.plain")) attachView(view, row, most, change);
  });
}

function attachView(view, template, most, change) {
  const [svg, list, said] = ["svg", "ul.plain", "[data-said]"].map((selector) => view.querySelector(selector));
  const [width, height] = [svg.viewBox.baseVal.width, svg.viewBox.baseVal.height];
  const rows = () => Array.from(list.children);
  const field = (row, name) => row.querySelector(`[name^="${name}-"]`);
  const sides = (row) => ["x1", "y1", "x2", "y2"].map((name) => field(row, name).valueAsNumber);
  const isBlank = (row) => Array.from(row.querySelectorAll("input")).every((input) => !input.value.trim());
  let next = 1 + Math.max(-1, ...rows().map((row) => Number(row.dataset.region)));

  // ---- what is seen, from the rows ----
  function shape(tag, values, className = "") {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
    if (className) element.setAttribute("class", className);
    return element;
  }
  function drawn([x1, y1, x2, y2], label = "") {
    const box = { x: x1, y: y1, width: x2 - x1, height: y2 - y1 };
    const group = shape("g", {});
    const text = shape("text", { x: x1, y: y1, dx: ".3em", dy: "1.1em" });
    text.textContent = label;
    group.append(shape("rect", box, "under"), shape("rect", box), text);
    return group;
  }
  function show() {
    svg.replaceChildren(...rows().flatMap((row) => {
      const [x1, y1, x2, y2] = sides(row);
      if (!(x1 < x2 && y1 < y2)) return [];
      const group = drawn([x1, y1, x2, y2], field(row, "label").value);
      group.dataset.box = row.dataset.region;
      group.classList.toggle("here", row.contains(document.activeElement));
      return [group];
    }));
  }

  // ---- rows ----
  function add(box) {
    if (rows().length >= most) {
      said.textContent = `A view has at most ${most} regions here; delete one first.`;
      return;
    }
    const row = template.cloneNode(true);
    row.dataset.region = next;
    row.querySelectorAll("[name], [value]").forEach((element) => {
      for (const name of ["name", "value"]) {
        const text = element.getAttribute(name);
        if (text) element.setAttribute(name, text.replace("VIEW", view.dataset.view).replace("ROW", next));
      }
    });
    next += 1;
    list.append(row);
    if (box) ["x1", "y1", "x2", "y2"].forEach((name, place) => { field(row, name).value = box[place]; });
    if (box) change();
    said.textContent = "";
    field(row, "label").focus({ preventScroll: Boolean(box) });
    show();
  }
  rows().filter(isBlank).forEach((row) => row.remove()); // they are for those who have no other way to add one
  list.addEventListener("input", () => { change(); show(); });
  list.addEventListener("focusin", show);
  list.addEventListener("focusout", () => setTimeout(show));
  view.addEventListener("click", (event) => {
    const act = event.target.closest("button")?.value || "";
    if (!/^(add|delete)-/.test(act)) return;
    event.preventDefault();
    if (act.startsWith("add-")) return void add();
    const row = event.target.closest("[data-region]");
    const near = row.nextElementSibling || row.previousElementSibling;
    row.remove();
    change();
    show();
    said.textContent = "Deleted; it is kept until you save.";
    (near ? field(near, "label") : view.querySelector("[value^=add-]")).focus({ preventScroll: true });
  });

  // ---- drawing ----
  let start = null;
  let preview = null;
  function place(event) {
    const frame = svg.getBoundingClientRect();
    const at = [((event.clientX - frame.left) / frame.width) * width, ((event.clientY - frame.top) / frame.height) * height];
    return [Math.round(Math.min(width, Math.max(0, at[0]))), Math.round(Math.min(height, Math.max(0, at[1])))];
  }
  const box = ([x, y]) => [Math.min(start.x, x), Math.min(start.y, y), Math.max(start.x, x), Math.max(start.y, y)];
  function stop() {
    start = null;
    preview?.remove();
    preview = null;
  }
  function choose([x, y]) {
    const around = rows().map((row) => [row, sides(row)]).filter(([, [x1, y1, x2, y2]]) => x1 <= x && x <= x2 && y1 <= y && y <= y2);
    const size = ([, [x1, y1, x2, y2]]) => (x2 - x1) * (y2 - y1);
    const chosen = around.sort((a, b) => size(a) - size(b))[0];
    if (chosen) field(chosen[0], "label").focus({ preventScroll: true });
  }
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || (event.pointerType === "touch" && !svg.classList.contains("by-finger"))) return; // a finger scrolls
    if (start) return void stop(); // a second finger: nothing is drawn
    event.preventDefault();
    const [x, y] = place(event);
    start = { x, y, clientX: event.clientX, clientY: event.clientY };
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!start) return;
    preview?.remove();
    preview = drawn(box(place(event)));
    preview.classList.add("here");
    svg.append(preview);
  });
  svg.addEventListener("pointerup", (event) => {
    if (!start) return;
    const found = box(place(event));
    const far = Math.min(Math.abs(event.clientX - start.clientX), Math.abs(event.clientY - start.clientY)) >= SMALLEST;
    const end = place(event);
    stop();
    if (far && found[0] < found[2] && found[1] < found[3]) add(found);
    else choose(end);
  });
  svg.addEventListener("pointercancel", stop);
  view.querySelector("[data-finger]").addEventListener("click", (event) => {
    const draws = svg.classList.toggle("by-finger");
    event.currentTarget.setAttribute("aria-pressed", draws);
    said.textContent = draws ? "Draw boxes on the picture; press the button again to scroll over it." : "";
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") stop(); });
  svg.classList.add("live");
  show();
}
