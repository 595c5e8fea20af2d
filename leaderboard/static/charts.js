/* Charts: <div class="plot" data-figure="ID"> beside <script type="application/json" id="ID">. The
   figure names its colours as the page's custom properties, "var(--ink)"; here they become the
   values of the theme in force, again whenever it changes. */
"use strict";
(() => {
  const NAMED = /^var\((--[a-z-]+)\)$/;

  function coloured(value, style) {
    if (typeof value === "string") return NAMED.test(value) ? style.getPropertyValue(NAMED.exec(value)[1]).trim() : value;
    if (Array.isArray(value)) return value.map((one) => coloured(one, style));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, coloured(one, style)]));
    return value;
  }

  function draw(element) {
    const figure = JSON.parse(document.getElementById(element.dataset.figure).textContent);
    const style = getComputedStyle(document.documentElement);
    // Plotly changes what it is given, so each drawing starts from the text again.
    const { data, layout } = coloured({ data: figure.data, layout: figure.layout }, style);
    return Plotly.react(element, data, layout, { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] })
      .then(() => { element.dataset.ready = "1"; });
  }

  const plots = [...document.querySelectorAll(".plot[data-figure]")];
  const drawAll = () => plots.forEach(draw);
  drawAll();
  document.addEventListener("plumbline:theme", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
