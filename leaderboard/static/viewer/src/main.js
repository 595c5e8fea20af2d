/* <div class="viewer" data-src="/….json" [data-sync="group"] [data-height="480"]>what to read without JavaScript</div>
   <div class="viewer" data-meshes="/….mesh" [data-meshes-b="/….mesh"] …>
   Pages may listen to `viewer:ready` and `viewer:pick` (detail: see describe() in pick.js and mesh_pick.js). */

import { parse } from "./data.js";
import { merged, unpack } from "./mesh_data.js";
import { MeshViewer } from "./meshes.js";
import { RateModels } from "./rate_models.js";
import { Viewer } from "./wireframes.js";

const viewers = new Set();

function say(element, words) {
  const alert = Object.assign(document.createElement("p"), { className: "alert error", textContent: words });
  alert.setAttribute("role", "alert");
  element.replaceChildren(alert);
}

async function get(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json, application/octet-stream" }, credentials: "same-origin" });
  if (answer.ok) return answer;
  const problem = /json/.test(answer.headers.get("Content-Type") || "") ? await answer.json() : {};
  throw new Error(problem.detail || `The 3D data could not be loaded (${answer.status}); load the page again.`);
}

async function wireframes(element) {
  const data = parse(await (await get(element.dataset.src)).json());
  if (data.models.some((model) => model.nVertices)) viewers.add(new Viewer(element, data));
  else element.textContent = "There is nothing to show: no model has a vertex.";
}

async function meshes(element) {
  const addresses = [element.dataset.meshes, element.dataset.meshesB].filter(Boolean);
  const files = await Promise.all(addresses.map(async (address) => unpack(await (await get(address)).arrayBuffer())));
  const data = merged(files);
  if (data.models.some((model) => model.nFaces)) viewers.add(new MeshViewer(element, data));
  else element.textContent = "There is nothing to show: no mesh has a face.";
}

async function start(element) {
  try {
    await (element.dataset.meshes ? meshes : wireframes)(element);
  } catch (error) {
    say(element, error instanceof TypeError ? "The 3D data could not be loaded; check the network and load the page again." : error.message);
  }
}

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting) { near.unobserve(target); start(target); }
  }
}, { rootMargin: "300px" });

const watch = (root) => root.querySelectorAll(":is(.viewer[data-src], .viewer[data-meshes]):not([data-watched])").forEach((element) => {
  element.dataset.watched = "1";
  near.observe(element);
});
watch(document);
document.addEventListener("htmx:load", (event) => watch(event.target.parentElement || document));

const recolour = () => viewers.forEach((viewer) => viewer.themed());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
new MutationObserver(recolour).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

/* The rating page shows questions with it: see static/rate/page.js. */
window.plumblineModels = RateModels;
