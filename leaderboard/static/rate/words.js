/* Numbers as the page says them, and elements made in one expression. */

export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

export const counted = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/* "about 14 min left" */
export function left(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 90) return "about a minute left";
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `about ${minutes} min left`;
  return `about ${(minutes / 60).toFixed(1).replace(/\.0$/, "")} h left`;
}

export const GRADES = { 1: "bad", 2: "poor", 3: "fair", 4: "good", 5: "excellent" };
export const CHOICES = { left: "Left is better", tie: "Equal", right: "Right is better" };
