/* The upload form: <form method="post" enctype="multipart/form-data" data-create-url="…">, with one
   <input type="file"> inside a .drop. Without this file the form is sent whole, as a plain form.

   POST data-create-url {…fields, file_name, size, sha256} -> {id, page_url?, upload: {kind, part_size,
   parts_done, url, parts, complete_url}}; every part is PUT; POST complete_url; then to page_url.
   Before that GET data-create-url?uploading=1&sha256=…: an upload of the same bytes is gone on with.
   A part that fails is sent again; after the last try the form offers to go on from where it stopped. */

const TRIES = 5;
const HEARD_MS = 60_000; // how often a long upload says that it goes on
const HASH_LIMIT = 256 * 1024 * 1024; // crypto.subtle wants the whole file in memory
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Refusal extends Error {} // the server understood and said no: trying again would not help

export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB"];
  const step = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** step).toFixed(bytes / 1000 ** step < 10 ? 1 : 0)} ${units[step - 1]}`;
}

export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return `${Math.round(seconds / 60)} min`;
}

/* One sentence from an answer: problem details, or what the status means. */
export function sentence(status, type, text) {
  if (/json/.test(type || "")) {
    try {
      const problem = JSON.parse(text);
      const extra = (problem.errors || problem.problems || []).map((one) => (typeof one === "string" ? one : one.detail || one.reason || one.msg || ""));
      const words = typeof problem.detail === "string" ? problem.detail : problem.title;
      const all = [words, ...extra].filter(Boolean);
      if (all.length) return all.join(" ");
    } catch { /* not JSON after all: say what the status means */ }
  }
  if (status === 413) return "The file is larger than this server takes.";
  if (status === 401 || status === 403) return "You are not logged in, or may not upload here; log in again in another tab, then continue.";
  if (status === 429) return "Too many requests in a short time; wait a minute, then continue.";
  return status ? `The server answered with an error (${status}); try again in a minute.` : "The connection was lost; check the network, then continue.";
}

function csrfToken() {
  const meta = document.querySelector('meta[name="csrf-token"]')?.content;
  return meta || document.cookie.match(/(?:^|; )csrftoken=([^;]*)/)?.[1] || "";
}

const foreign = (url) => new URL(url, location.href).origin !== location.origin;

/* One request by XMLHttpRequest, because only that reports how much of a body has gone out. */
function send(method, url, body, { onprogress, signal } = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    if (!foreign(url)) request.setRequestHeader("X-CSRFToken", csrfToken());
    if (typeof body === "string") request.setRequestHeader("Content-Type", "application/json");
    else if (body && !foreign(url)) request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (event) => onprogress?.(event.loaded);
    request.onload = () => {
      const type = request.getResponseHeader("Content-Type");
      if (request.status >= 200 && request.status < 300) resolve(request);
      else {
        const words = sentence(request.status, type, request.responseText);
        const final = request.status >= 400 && request.status < 500 && ![408, 425, 429].includes(request.status);
        reject(final ? new Refusal(words) : new Error(words));
      }
    };
    request.onerror = () => reject(new Error(sentence(0)));
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send(body);
  });
}

async function persist(act, signal, onretry) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (error instanceof Refusal || error.name === "AbortError" || attempt === TRIES) throw error;
      onretry?.(attempt, error);
      await wait(Math.min(8000, 500 * 2 ** attempt));
      if (signal.aborted) throw new DOMException("stopped", "AbortError");
    }
  }
}

async function digest(file) {
  if (!globalThis.crypto?.subtle || file.size > HASH_LIMIT) return "";
  const hash = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fieldsOf(form) {
  const fields = {};
  for (const control of form.elements) {
    if (!control.name || control.type === "file" || control.name === "csrfmiddlewaretoken" || control.disabled) continue;
    if (control.type === "checkbox") fields[control.name] = control.checked;
    else if (control.type === "radio") { if (control.checked) fields[control.name] = control.value; }
    else if (!["submit", "button", "fieldset"].includes(control.type)) fields[control.name] = control.value;
  }
  return fields;
}

/* A transfer knows what has arrived, so that `run` can be called again after a failure. */
export class Transfer {
  constructor(createUrl, fields, file, report) {
    Object.assign(this, { createUrl, fields, file, report, made: null, heard: 0, done: new Set() });
    this.stop = new AbortController();
  }

  async run() {
    if (!this.made) await this.create();
    if (!this.made.upload) return this.made.page_url; // the same bytes came a moment ago
    if (!this.heard) await this.resume();
    const total = Math.max(1, Math.ceil(this.file.size / this.made.upload.part_size));
    const sign = setInterval(() => this.resume().catch(() => {}), HEARD_MS); // one part can take minutes; a refusal is met after it
    try {
      for (let number = 1; number <= total; number += 1) {
        if (!this.done.has(number)) await this.part(number);
      }
      this.report({ step: "complete", sent: this.file.size });
      return await this.complete();
    } finally {
      clearInterval(sign);
    }
  }

  async create() {
    this.report({ step: "hash", sent: 0 });
    const body = { ...this.fields, file_name: this.file.name, size: this.file.size, sha256: await digest(this.file) };
    this.report({ step: "create", sent: 0 });
    this.made = await this.begunBefore(body);
    if (!this.made) {
      const answer = await persist(() => send("POST", this.createUrl, JSON.stringify(body), this), this.stop.signal);
      this.made = JSON.parse(answer.responseText);
      this.heard = performance.now();
    }
    for (const part of this.made.upload?.parts_done || []) this.done.add(part.number ?? part);
  }

  get signal() { return this.stop.signal; }

  /* What is not heard of holds no place, and the server does not see parts that go elsewhere. */
  async resume() {
    await this.paused; // or the server might hear of it after this
    await persist(() => send("POST", `${this.createUrl}/${this.made.id}/resume`, "{}", this), this.stop.signal);
    this.heard = performance.now();
  }

  /* Also when its page is closed: such a request outlives the page. */
  pause() {
    this.heard = 0;
    if (!this.made) return;
    const headers = { "Content-Type": "application/json", "X-CSRFToken": csrfToken() };
    const request = { method: "POST", body: "{}", headers, keepalive: true };
    this.paused = fetch(`${this.createUrl}/${this.made.id}/pause`, request).catch(() => {}); // then it is given up by itself, later
  }

  /* The reservation of these very bytes, from a page that was closed or reloaded: it already counts, so go on with it. */
  async begunBefore(body) {
    if (!body.sha256) return null;
    try {
      const list = await send("GET", `${this.createUrl}?uploading=1&sha256=${body.sha256}`, null, this);
      const found = JSON.parse(list.responseText).items.find((one) => one.upload && one.challenge === body.challenge && one.phase === body.phase);
      if (!found) return null;
      await send("PATCH", `${this.createUrl}/${found.id}`, JSON.stringify(this.fields), this);
      return found; // `run` asks for its place again
    } catch (error) {
      if (error.name === "AbortError") throw error;
      return null; // then a new one, which says what is wrong if anything is
    }
  }

  sentBefore() {
    const { part_size: part } = this.made.upload;
    let sent = 0;
    for (const number of this.done) sent += Math.min(part, this.file.size - (number - 1) * part);
    return sent;
  }

  /* Parts have addresses of their own (signed ones: [{number, url}] or {number: url}), or `url` with {part} in it, or `url`/number. */
  partUrl(number) {
    const { parts, url } = this.made.upload;
    const signed = Array.isArray(parts) ? parts.find((one) => one.number === number)?.url : parts?.[number];
    if (signed) return signed;
    return url.includes("{part}") ? url.replace("{part}", number) : `${url.replace(/\/$/, "")}/${number}`;
  }

  async part(number) {
    const { part_size: length } = this.made.upload;
    const from = (number - 1) * length;
    const slice = this.file.slice(from, Math.min(this.file.size, from + length));
    const before = this.sentBefore();
    const onprogress = (loaded) => this.report({ step: "send", sent: before + loaded });
    const again = (attempt, error) => this.report({ step: "retry", sent: before, attempt, words: error.message });
    await persist(() => send("PUT", this.partUrl(number), slice, { onprogress, signal: this.signal }), this.signal, again);
    this.done.add(number);
    if (performance.now() - this.heard > HEARD_MS) await this.resume();
    this.report({ step: "send", sent: this.sentBefore() });
  }

  async complete() {
    const answer = await persist(() => send("POST", this.made.upload.complete_url, "{}", this), this.signal);
    const said = answer.responseText ? JSON.parse(answer.responseText) : {};
    return said.page_url || this.made.page_url || this.made.upload.page_url;
  }
}

function panel(form) {
  const box = document.createElement("div");
  box.className = "upload-state";
  box.hidden = true;
  box.innerHTML = '<progress max="1" aria-label="Upload"></progress><div class="count"><span role="status"></span><span class="left"></span></div><div class="alert error" role="alert" hidden></div><div class="actions"><button type="button" class="again" hidden>Go on</button><button type="button" class="stop">Stop</button></div>';
  form.append(box);
  const find = (selector) => box.querySelector(selector);
  return { box, bar: find("progress"), words: find("[role=status]"), left: find(".left"), alert: find(".alert"), again: find(".again"), stop: find(".stop") };
}

function dropZone(form, input) {
  const zone = input.closest(".drop") || form;
  const chosen = Object.assign(document.createElement("p"), { className: "chosen" });
  chosen.setAttribute("role", "status");
  input.after(chosen);
  const show = () => { const file = input.files[0]; chosen.textContent = file ? `${file.name}, ${size(file.size)}` : ""; };
  const over = (on) => (event) => { event.preventDefault(); zone.classList.toggle("over", on); };
  zone.addEventListener("dragover", over(true));
  zone.addEventListener("dragleave", over(false));
  zone.addEventListener("drop", (event) => {
    over(false)(event);
    const { files } = event.dataTransfer;
    if (files.length !== 1) { chosen.textContent = `Drop one file; these are ${files.length}. Put them into one zip.`; return; }
    input.files = files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
  input.addEventListener("change", show);
  show(); // a file that was chosen before this came
  show();
}

function reporter(view, file) {
  const words = { hash: "Reading the file", create: "Asking for a place", send: "Sending", complete: "Checking that all arrived" };
  let began = 0;
  let first = 0;
  return ({ step, sent, attempt, words: why }) => {
    if (step === "send" && !began) { began = performance.now(); first = sent; }
    const share = sent / Math.max(1, file.size);
    if (step === "hash" || step === "create") view.bar.removeAttribute("value"); else view.bar.value = share;
    view.words.textContent = step === "retry" ? `${why} Trying again (${attempt} of ${TRIES - 1}).` : words[step];
    const rate = (sent - first) / Math.max(1, performance.now() - began) * 1000;
    const eta = began && rate > 0 && share < 1 ? ` · about ${duration((file.size - sent) / rate)} left` : "";
    view.left.textContent = `${size(sent)} of ${size(file.size)}${eta}`;
  };
}

export function attach(form) {
  const input = form.querySelector('input[type="file"]');
  if (!input) return;
  dropZone(form, input);
  const view = panel(form);
  const buttons = Array.from(form.querySelectorAll("button:not([type=button]), input[type=submit]"));
  let transfer = null;
  const guard = (event) => event.preventDefault();
  const leave = () => transfer.pause();
  const watch = (on) => {
    const change = on ? addEventListener : removeEventListener;
    change("beforeunload", guard);
    change("pagehide", leave);
  };
  const busy = (on) => {
    buttons.forEach((button) => { button.disabled = on; });
    view.stop.hidden = !on;
    view.again.hidden = on || !transfer?.made;
    if (on) { view.box.hidden = false; view.alert.hidden = true; }
    watch(on);
  };
  const go = async () => {
    busy(true);
    try {
      const page = await transfer.run();
      watch(false);
      if (page) location.assign(page); else location.reload();
    } catch (error) {
      const stopped = error.name === "AbortError";
      if (stopped) transfer.pause();
      view.alert.textContent = stopped ? "Stopped. The parts that arrived are kept for a while: continue, or start again." : error.message;
      view.alert.hidden = false;
      transfer.stop = new AbortController();
      busy(false);
    }
  };
  form.addEventListener("submit", (event) => {
    const file = input.files[0];
    if (!file) return; // the browser, or the server, says that a file is needed
    event.preventDefault();
    transfer = new Transfer(form.dataset.createUrl, fieldsOf(form), file, reporter(view, file));
    go();
  });
  view.again.addEventListener("click", go);
  view.stop.addEventListener("click", () => transfer.stop.abort());
}
