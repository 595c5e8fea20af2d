/* Interactive charts, on demand: <figure> with <div class="plot" data-figure="ID"> that holds the chart as the server drew it and
   <script type="application/json" id="ID">, and <p hidden><button data-explore></button></p>. Only the button loads Plotly, five
   megabytes. The figure names its colours as the page's custom properties, "var(--ink)"; here they become the values of the theme in
   force, again whenever it changes. */
"use strict";
(() => {
  const NAMED = /^var\((--[a-z-]+)\)$/;
  const address = document.currentScript.dataset.plotly;
  let loading = null;

  function load() {
    loading ??= new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: address, onload: resolve });
      script.onerror = () => { loading = null; script.remove(); reject(); };
      document.head.append(script);
    });
    return loading;
  }

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
    const { data, layout } = coloured(figure, style);
    return Plotly.react(element, data, layout, { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] })
      .then(() => { element.dataset.ready = "1"; });
  }

  async function explore(button, element) {
    const words = button.textContent;
    Object.assign(button, { disabled: true, textContent: "Loading …" });
    try {
      await load();
    } catch {
      Object.assign(button, { disabled: false, textContent: `${words}: it could not be loaded, try again` });
      return;
    }
    const script = document.getElementById(element.dataset.figure);
    element.after(script);
    element.replaceChildren();
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", element.closest("figure").querySelector("figcaption").textContent);
    element.tabIndex = -1;
    await draw(element);
    element.focus({ preventScroll: true });
    button.parentElement.remove();
  }

  document.querySelectorAll("[data-explore]").forEach((button) => {
    button.parentElement.hidden = false;
    button.addEventListener("click", () => explore(button, button.closest("figure").querySelector(".plot")));
  });
  const again = () => document.querySelectorAll(".plot[data-ready]").forEach(draw);
  document.addEventListener("plumbline:theme", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
})();
