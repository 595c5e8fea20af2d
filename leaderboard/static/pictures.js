/* Two pictures of one view, one above the other, with a slider between them:

   <div class="pair" data-pair="GROUP">: .pair-stage > .pair-both > figure.pair-a, figure.pair-b (each an img and a
   figcaption; in the second perhaps .boxes), then ul.layers of <a data-layer="kind" href="picture">.
   Without this file the two stand side by side, and a layer opens as a picture of its own.

   Pairs of one group (not of "") move together: slider, zoom, what is scrolled to, layer, boxes. */

const ZOOMS = [1, 2, 4];
const groups = new Map(); // by name: the pairs of it that are on the page

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

export function attach(root) {
  const stage = root.querySelector(".pair-stage");
  const both = stage.querySelector(".pair-both");
  const [left, right] = ["a", "b"].map((side) => both.querySelector(`.pair-${side}`));
  const boxes = both.querySelector(".boxes");
  const layers = Array.from(root.querySelectorAll("[data-layer]"));
  const state = { at: 50, zoom: 1, layer: layers[0]?.dataset.name, boxes: boxes ? !("off" in boxes.dataset) : null };
  const pair = { root, set, scroll };

  // ---- what is seen, from the state ----
  function place() {
    const x = (stage.scrollLeft + (state.at / 100) * stage.clientWidth) / Math.max(1, both.offsetWidth);
    both.style.setProperty("--at", `${Math.min(100, Math.max(0, 100 * x))}%`);
  }
  function show() {
    slider.value = state.at;
    slider.setAttribute("aria-valuetext", `${words(left)} on the left ${Math.round(state.at)} %`);
    both.style.width = `${100 * state.zoom}%`;
    root.classList.toggle("zoomed", state.zoom > 1);
    zooms.forEach((button) => button.setAttribute("aria-pressed", Number(button.value) === state.zoom));
    if (boxes) boxes.hidden = !state.boxes;
    if (box) box.checked = Boolean(state.boxes);
    const chosen = layers.find((layer) => layer.dataset.name === state.layer);
    layers.forEach((layer) => layer.toggleAttribute("aria-current", layer === chosen));
    if (chosen) layer(chosen);
    place();
  }
  function layer(chosen) {
    const image = right.querySelector("img");
    if (image.getAttribute("src") !== chosen.getAttribute("href")) {
      image.src = chosen.getAttribute("href");
      image.alt = chosen.dataset.alt;
      right.querySelector("figcaption").textContent = chosen.textContent.trim();
    }
    const text = document.querySelector(`[data-legend="${chosen.dataset.layer}"]`);
    legend.hidden = !text;
    legend.replaceChildren(...(text ? Array.from(text.cloneNode(true).childNodes) : []));
  }
  const words = (figure) => figure.querySelector("figcaption").textContent.trim();

  // ---- what changes the state, here and in the group ----
  function set(change) {
    if (change.layer && !layers.some((one) => one.dataset.name === change.layer)) delete change.layer;
    if (change.zoom && change.zoom !== state.zoom) keepCentre(change.zoom);
    Object.assign(state, change);
    show();
  }
  function keepCentre(zoom) {
    const [x, y] = [stage.scrollLeft + stage.clientWidth / 2, stage.scrollTop + stage.clientHeight / 2].map((v) => (v * zoom) / state.zoom);
    queueMicrotask(() => scroll(x - stage.clientWidth / 2, y - stage.clientHeight / 2));
  }
  function scroll(x, y) {
    if (Math.abs(stage.scrollLeft - x) > 1 || Math.abs(stage.scrollTop - y) > 1) stage.scrollTo(x, y);
  }
  function all(act) {
    act(pair);
    for (const other of groups.get(root.dataset.pair) || []) if (other !== pair) act(other);
  }
  const change = (values) => all((one) => one.set({ ...values }));

  // ---- controls ----
  const slider = make("input", { type: "range", min: 0, max: 100, step: 1, className: "pair-slider" });
  slider.setAttribute("aria-label", "Where one picture ends and the other begins");
  slider.addEventListener("input", () => change({ at: Number(slider.value) }));
  const zooms = ZOOMS.map((zoom) => {
    const button = make("button", { type: "button", className: "small", value: zoom }, `${zoom}×`);
    button.setAttribute("aria-label", `Zoom ${zoom} times`);
    button.addEventListener("click", () => change({ zoom }));
    return button;
  });
  let box = null;
  const tools = make("div", { className: "pair-tools" }, slider, make("span", { className: "pair-zoom" }, ...zooms));
  if (boxes) {
    box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => change({ boxes: box.checked }));
    tools.append(make("label", {}, box, "Objects"));
    both.append(boxes); // over both pictures, not cut off with the second
  }
  const legend = make("p", { className: "pair-legend", hidden: true });
  stage.after(tools, legend);
  layers.forEach((link) => link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    change({ layer: link.dataset.name });
  }));

  // ---- the pictures themselves: drag the line; zoomed, scroll them ----
  let dragging = false;
  const toPointer = (event) => {
    const frame = stage.getBoundingClientRect();
    change({ at: Math.min(100, Math.max(0, (100 * (event.clientX - frame.left)) / stage.clientWidth)) });
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.button || (event.pointerType === "touch" && state.zoom > 1)) return;
    dragging = true;
    stage.setPointerCapture(event.pointerId);
    toPointer(event);
  });
  stage.addEventListener("pointermove", (event) => dragging && toPointer(event));
  ["pointerup", "pointercancel"].forEach((name) => stage.addEventListener(name, () => { dragging = false; }));
  stage.addEventListener("dragstart", (event) => event.preventDefault());
  stage.addEventListener("scroll", () => {
    place();
    for (const other of groups.get(root.dataset.pair) || []) if (other !== pair) other.scroll(stage.scrollLeft, stage.scrollTop);
  });
  new ResizeObserver(place).observe(stage);

  // ---- the row of an object shows its box ----
  const rows = root.parentElement.querySelectorAll("[data-box]");
  rows.forEach((row) => {
    const frame = boxes?.children[row.dataset.box - 1];
    ["mouseenter", "mouseleave"].forEach((name) => row.addEventListener(name, () => frame?.classList.toggle("here", name === "mouseenter")));
  });

  if (root.dataset.pair) {
    if (!groups.has(root.dataset.pair)) groups.set(root.dataset.pair, new Set());
    groups.get(root.dataset.pair).add(pair);
  }
  stage.tabIndex = 0; // zoomed, it is scrolled with the arrow keys
  stage.setAttribute("role", "group");
  stage.setAttribute("aria-label", `${words(left)} and ${words(right)}, zoomed pictures scroll`);
  root.classList.add("live");
  show();
}
