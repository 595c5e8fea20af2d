/* How each kind of line and vertex looks: never by colour alone. Widths and dashes are in CSS pixels;
   colours are names of custom properties, so both themes and both renderers use the same table. */

const UNDER = { colour: "--under", width: 7, opacity: 0.5, marker: "dot", size: 7 };
const SOLID = { width: 3, opacity: 1, marker: "dot", size: 9 };
const DASHED = { width: 3, opacity: 1, dash: [9, 6], marker: "ring", size: 12 };
const DOTTED = { width: 2, opacity: 1, dash: [2, 4], marker: "cross", size: 11 };

const TABLE = {
  reference: { matched: UNDER, missed: { ...DASHED, colour: "--missed" }, plain: UNDER },
  prediction: { matched: { ...SOLID, colour: "--matched" }, extra: { ...DOTTED, colour: "--extra" }, plain: { ...SOLID, colour: "--matched" } },
  prediction_b: { matched: { ...SOLID, colour: "--good" }, extra: { ...DOTTED, colour: "--bad" }, plain: { ...SOLID, colour: "--good" } },
};
const ANY = { missed: { ...DASHED, colour: "--missed" }, extra: { ...DOTTED, colour: "--extra" }, matched: { ...SOLID, colour: "--matched" }, ignored: { ...SOLID, colour: "--soft", width: 1, size: 5 } };

export const styleOf = (role, kind) => TABLE[role][kind] || ANY[kind];

export function colours(element) {
  const style = getComputedStyle(element);
  return (name) => style.getPropertyValue(name).trim() || "#777777";
}

const NS = "http://www.w3.org/2000/svg";
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(NS, tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(...children);
  return element;
}

export function line(style, from, to) {
  const attributes = { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: `var(${style.colour})`, "stroke-width": style.width, "stroke-opacity": style.opacity };
  if (style.dash) attributes["stroke-dasharray"] = style.dash.join(" ");
  return svg("line", attributes);
}

export function marker(style, [x, y]) {
  const r = style.size / 2;
  const stroke = { stroke: `var(${style.colour})`, "stroke-width": 2, fill: "none" };
  if (style.marker === "ring") return svg("circle", { cx: x, cy: y, r: r - 1, ...stroke });
  if (style.marker === "cross") return svg("path", { d: `M${x - r + 1} ${y - r + 1}L${x + r - 1} ${y + r - 1}M${x - r + 1} ${y + r - 1}L${x + r - 1} ${y - r + 1}`, ...stroke });
  return svg("circle", { cx: x, cy: y, r: r - 0.5, fill: `var(${style.colour})`, "fill-opacity": style.opacity });
}

/* A sample of a line with its vertex, for the legend. */
export function swatch(style) {
  return svg("svg", { width: 44, height: 14, viewBox: "0 0 44 14", "aria-hidden": "true" }, line(style, [1, 7], [34, 7]), marker(style, [36, 7]));
}
