/* Colours that stand for numbers: viridis, whose lightness grows evenly, so that it can be read without
   telling red from green, and printed. */

const STOPS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const RGB = STOPS.map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));

/* A number from 0 to 1 -> [r, g, b] from 0 to 255; what is beyond takes the colour of its end. */
export function viridis(value) {
  const place = Math.max(0, Math.min(1, value)) * (RGB.length - 1);
  const low = Math.min(RGB.length - 2, Math.floor(place));
  return RGB[low].map((from, k) => from + (RGB[low + 1][k] - from) * (place - low));
}

/* 256 colours as RGBA bytes, for a texture. */
export const table = () => Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : Math.round(viridis((i >> 2) / 255)[i % 4])));

export const gradient = `linear-gradient(to right, ${STOPS.join(", ")})`;

/* The same unit vector always has the same colour: x is red, y green, z blue, and minus is dark. */
export const normalColour = (normal) => normal.map((value) => (value * 0.5 + 0.5) * 255);

/* "#rgb", "#rrggbb" -> [r, g, b] from 0 to 255. */
export function rgb(text) {
  const digits = text.replace("#", "");
  const full = digits.length === 3 ? Array.from(digits, (one) => one + one).join("") : digits;
  return [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16) || 0);
}
