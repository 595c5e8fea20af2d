/* Panels of one picture, all of one size: beside each other where it is wide, else below each other. */

const GAP = 2; // pixels between panels

/* `contents`: what each panel shows -> [{x, y, width, height, models}] in pixels, y down. */
export function arrange(width, height, contents, gap = GAP) {
  const n = contents.length;
  const rest = gap * (n - 1);
  const across = Math.min((width - rest) / n, height) >= Math.min(width, (height - rest) / n);
  const size = Math.max(1, Math.floor(((across ? width : height) - rest) / n));
  return contents.map((models, place) => {
    const from = place * (size + gap);
    return across ? { x: from, y: 0, width: size, height, models } : { x: 0, y: from, width, height: size, models };
  });
}
