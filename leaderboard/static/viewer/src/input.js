/* Mouse, touch and keys, turned into camera moves. */

const TURN = Math.PI / 36; // one press of an arrow key
const SHIFT = 40; // pixels, with the shift key

export function pointers(element, viewer) {
  const held = new Map();
  const gap = ([a, b]) => Math.hypot(a.x - b.x, a.y - b.y);
  const middle = ([a, b]) => [(a.x + b.x) / 2, (a.y + b.y) / 2];
  let travelled = 0;

  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    travelled = 0;
  });
  element.addEventListener("pointermove", (event) => {
    if (!held.has(event.pointerId)) { viewer.hover(event.offsetX, event.offsetY); return; }
    const before = Array.from(held.values());
    const last = held.get(event.pointerId);
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    travelled += Math.hypot(dx, dy);
    const { camera } = viewer;
    if (held.size === 2) {
      const after = Array.from(held.values());
      const [from, to] = [middle(before), middle(after)];
      camera.pan(to[0] - from[0], to[1] - from[1], viewer.lens());
      camera.zoom(gap(after) / (gap(before) || 1));
    } else if (event.buttons & 6 || event.shiftKey) camera.pan(dx, dy, viewer.lens());
    else camera.rotate(-dx * 0.008, dy * 0.008);
  });
  const release = (event) => {
    held.delete(event.pointerId);
    if (event.type === "pointerup" && travelled < 4) viewer.hover(event.offsetX, event.offsetY, true);
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  element.addEventListener("pointerleave", () => { if (!held.size) viewer.unhover(); });
  element.addEventListener("contextmenu", (event) => event.preventDefault());
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    viewer.camera.zoom(Math.exp(-Math.max(-200, Math.min(200, pixels)) * 0.0016));
  }, { passive: false });
}

export function keys(element, viewer) {
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const named = { r: "reset", t: "top", f: "front", s: "side" };
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const { camera } = viewer;
    if (arrows[key]) {
      const [x, y] = arrows[key];
      if (event.shiftKey) camera.pan(-x * SHIFT, -y * SHIFT, viewer.lens());
      else camera.rotate(x * TURN, -y * TURN);
    } else if (key === "+" || key === "=") camera.zoom(1.2);
    else if (key === "-" || key === "_") camera.zoom(1 / 1.2);
    else if (named[key]) viewer.look(named[key]);
    else if (key === "p") viewer.toggleParallel();
    else if (key === "n") viewer.step(event.shiftKey ? -1 : 1);
    else if (key === "Escape") viewer.unpin();
    else if (!viewer.press?.(key)) return;
    event.preventDefault();
  });
}
