/* The page before a study's questions: the sizes of screen and window go with its form, and a window that is too narrow is told so at
   once, before anybody has read the rest. */

const PLACES = {
  screen_width: () => window.screen.width, screen_height: () => window.screen.height,
  window_width: () => window.innerWidth, window_height: () => window.innerHeight,
};

const alert = document.querySelector("[data-narrow]");
const form = document.querySelector("[data-size]")?.closest("form");

function measure() {
  for (const input of form.querySelectorAll("[data-size]")) input.value = String(Math.round(PLACES[input.name]()));
  const least = Number(alert.dataset.narrow);
  const narrow = least > 0 && window.innerWidth < least;
  alert.hidden = !narrow;
  if (narrow) alert.textContent = `This study needs a window at least ${least.toLocaleString("en")} pixels wide, and yours has ${window.innerWidth.toLocaleString("en")}; open it on a larger screen, such as a computer's, or make the window wider.`;
}

if (form) {
  measure();
  window.addEventListener("resize", measure);
  form.addEventListener("submit", measure);
}
