/* The pages' own behaviour. Everything here only adds to what already works without it, finds its
   elements by data attributes, and runs again on whatever htmx brings in. */
"use strict";
(() => {
  const each = (root, selector, act) => {
    if (root.matches?.(selector)) act(root);
    root.querySelectorAll(selector).forEach(act);
  };
  const once = (element, mark) => {
    if (element.dataset[mark]) return false;
    element.dataset[mark] = "1";
    return true;
  };
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // ---- times: the server writes the phase's zone, we add the viewer's ----
  // <time datetime="2026-12-14T23:59:00Z" [data-local="title|none"]>
  function localTime(time) {
    const moment = new Date(time.dateTime);
    const how = time.dataset.local || (time.closest("table, .facts, .menu") ? "title" : "text");
    if (how === "none" || Number.isNaN(moment.getTime()) || !/\d:\d/.test(time.dateTime)) return;
    if (!once(time, "localised")) return;
    const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(moment);
    if (time.textContent.includes(clock)) return;
    const sameYear = moment.getFullYear() === new Date().getFullYear() || time.textContent.includes(moment.getFullYear());
    const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", ...(sameYear ? {} : { year: "numeric" }) }).format(moment);
    const words = `your time: ${day}, ${clock}`;
    if (how === "title") time.title = words;
    else time.after(make("span", { className: "local" }, ` (${words})`));
  }

  // ---- theme: as the system, light, dark; kept in a cookie so that the server writes it into <html> ----
  const THEMES = ["", "light", "dark"];
  const THEME_WORDS = { "": "as the system", light: "light", dark: "dark" };
  function themeToggle(button) {
    if (!once(button, "ready")) return;
    const root = document.documentElement;
    const show = () => { button.textContent = `Theme: ${THEME_WORDS[root.dataset.theme || ""]}`; };
    button.hidden = false;
    button.addEventListener("click", () => {
      const next = THEMES[(THEMES.indexOf(root.dataset.theme || "") + 1) % THEMES.length];
      if (next) root.dataset.theme = next; else delete root.dataset.theme;
      document.cookie = `theme=${next}; path=/; max-age=${next ? 31536000 : 0}; samesite=lax`;
      show();
      document.dispatchEvent(new CustomEvent("plumbline:theme"));
    });
    show();
  }

  // ---- sorting small tables: <table data-sort>, <td data-value="0.61">, <th data-nosort>, <th data-first="descending"> ----
  function cellKey(row, column) {
    const cell = row.cells[column];
    const text = (cell?.dataset.value ?? cell?.textContent ?? "").trim();
    if (text === "" || text === "–" || text === "None") return null;
    const number = Number(text.replace(/[−]/g, "-").replace(/,(?=\d{3}\b)/g, ""));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  }
  function compareKeys(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }
  function sortRows(table, column, direction) {
    const body = table.tBodies[0];
    const keyed = Array.from(body.rows, (row) => [cellKey(row, column), row]);
    const sign = direction === "descending" ? -1 : 1;
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null); // nothing to compare: last, both ways
      return sign * compareKeys(a, b);
    });
    body.append(...keyed.map(([, row]) => row));
  }
  function sortableTable(table) {
    if (!table.tHead || !table.tBodies.length || !once(table, "ready")) return;
    const heads = Array.from(table.tHead.rows[table.tHead.rows.length - 1].cells);
    heads.forEach((head, column) => {
      if (head.hasAttribute("data-nosort")) return;
      const button = make("button", { type: "button", className: "sort" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const first = head.dataset.first || "ascending";
        const other = first === "ascending" ? "descending" : "ascending";
        const direction = head.getAttribute("aria-sort") === first ? other : first;
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", direction);
        sortRows(table, column, direction);
      });
    });
  }

  // ---- copying: <div class="copy"><pre>…</pre></div> or <button data-copy="#id"> ----
  async function copyText(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = make("textarea", { value: text, className: "visually-hidden" });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("copying is not allowed here");
  }
  function copyButton(button, source) {
    const name = button.textContent;
    button.addEventListener("click", async () => {
      try {
        await copyText(source.value ?? source.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Select and copy by hand";
      }
      setTimeout(() => { button.textContent = name; }, 1800);
    });
  }
  function copyBlock(block) {
    const source = block.querySelector("pre, input, textarea");
    if (!source || !once(block, "ready")) return;
    const button = make("button", { type: "button", className: "small" }, "Copy");
    block.append(button);
    copyButton(button, source);
  }
  function copyTarget(button) {
    const source = document.querySelector(button.dataset.copy);
    if (!source || !once(button, "ready")) return;
    button.hidden = false;
    copyButton(button, source);
  }

  // ---- dialogs and menus: <button data-dialog="#id">, <button data-close>, <form data-confirm="…">, <details class="menu"> ----
  function dialogOpener(button) {
    if (!once(button, "ready")) return;
    button.hidden = false;
    button.addEventListener("click", () => document.querySelector(button.dataset.dialog)?.showModal());
  }
  function dialogCloser(button) {
    if (once(button, "ready")) button.addEventListener("click", () => button.closest("dialog")?.close());
  }
  function confirmForm(form) {
    if (!once(form, "ready")) return;
    form.addEventListener("submit", (event) => {
      if (form.dataset.confirmed) return;
      event.preventDefault();
      const submitter = event.submitter;
      const yes = make("button", { type: "button", className: submitter?.classList.contains("danger") ? "danger" : "primary" }, submitter?.textContent.trim() || "Go on");
      const no = make("button", { type: "button" }, "Cancel");
      const words = make("p", { id: "confirm-words" }, form.dataset.confirm);
      const dialog = make("dialog", {}, words, make("div", { className: "actions" }, yes, no));
      dialog.setAttribute("aria-labelledby", "confirm-words");
      no.addEventListener("click", () => dialog.close());
      yes.addEventListener("click", () => {
        form.dataset.confirmed = "1";
        dialog.close();
        form.requestSubmit(submitter);
        delete form.dataset.confirmed;
      });
      dialog.addEventListener("close", () => dialog.remove());
      document.body.append(dialog);
      dialog.showModal();
      no.focus();
    });
  }
  document.addEventListener("click", (event) => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      const inside = menu.contains(document.activeElement);
      menu.open = false;
      if (inside) menu.querySelector("summary").focus();
    });
  });

  // ---- 3D views that open when somebody asks: <div class="viewer poster" data-later="viewer.js" data-meshes-later="…"> with a picture
  // and <button data-open3d hidden> ----
  function viewOpener(button) {
    if (!once(button, "ready")) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      const viewer = button.closest(".poster");
      viewer.textContent = "Loading the 3D view …";
      viewer.dataset.meshes = viewer.dataset.meshesLater;
      viewer.classList.remove("poster");
      if (window.plumblineModels) return document.dispatchEvent(new CustomEvent("htmx:load"));
      const script = make("script", { src: viewer.dataset.later });
      script.addEventListener("error", () => { viewer.textContent = "The 3D view could not be loaded; load the page again."; });
      document.head.append(script);
    });
  }

  // ---- Markdown while it is written: <textarea>, <button data-preview="address" hidden>, <div hidden> ----
  function previewButton(button) {
    const text = button.parentElement.querySelector("textarea"), shown = button.nextElementSibling;
    if (!text || !once(button, "ready")) return;
    button.hidden = false;
    button.addEventListener("click", async () => {
      shown.hidden = !shown.hidden;
      button.textContent = shown.hidden ? "Preview" : "Close the preview";
      let asked;
      const refresh = async () => {
        if (shown.hidden) return;
        const headers = { "X-CSRFToken": text.form.elements.csrfmiddlewaretoken.value };
        const answer = await fetch(button.dataset.preview, { method: "POST", headers, body: new URLSearchParams({ text: text.value }) });
        shown.innerHTML = answer.ok ? await answer.text() : "<p>The preview could not be loaded; try again in a moment.</p>";
      };
      text.oninput = () => { clearTimeout(asked); asked = setTimeout(refresh, 800); };
      await refresh();
    });
  }

  // ---- filters: <select data-submit> sends its form; <button data-nojs> is then not needed ----
  function submitOnChange(control) {
    if (once(control, "ready")) control.addEventListener("change", () => control.form?.requestSubmit());
  }

  // ---- the board by keys: one cell of the table takes part in the page's order of tabs, arrows move from there; and what people see of
  // the gap to the row below opens on hover, focus and tap ----
  function cellTable(table) {
    if (!once(table, "ready")) return;
    const note = make("div", { className: "gap", role: "status", popover: "manual" });
    table.after(note);
    let opened = null;
    const close = () => { if (opened) { opened.classList.remove("gapped"); opened = null; note.hidePopover?.(); } };
    const open = (cell) => {
      if (cell === opened) return;
      close();
      if (!cell?.dataset.gap || !note.showPopover) return;
      const below = cell.parentElement.nextElementSibling;
      const name = (row) => row?.querySelector("td.name b")?.textContent.trim() ?? "";
      const value = (row) => row?.cells[cell.cellIndex]?.querySelector("b")?.textContent.trim() ?? "";
      const values = `${name(cell.parentElement)} ${value(cell.parentElement)}, ${name(below)} ${value(below)}`;
      note.replaceChildren(make("b", {}, cell.dataset.gap), below ? values : "");
      opened = cell;
      cell.classList.add("gapped");
      note.showPopover();
      const at = cell.getBoundingClientRect();
      note.style.left = `${Math.max(8, Math.min(at.left, innerWidth - note.offsetWidth - 8))}px`;
      note.style.top = `${at.bottom + 6 + note.offsetHeight > innerHeight ? at.top - note.offsetHeight - 6 : at.bottom + 6}px`;
    };
    const cells = () => table.tBodies[0].rows;
    const first = cells()[0]?.cells[0];
    if (first) first.tabIndex = 0;
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td");
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (event.key === "Escape") close();
      if (!cell || !step || event.target !== cell) return;
      const row = cells()[cell.parentElement.sectionRowIndex + step[0]];
      let next = row?.cells[cell.cellIndex + step[1]];
      while (next && !next.offsetParent) next = row.cells[next.cellIndex + (step[1] || 1)];
      if (!next) return;
      event.preventDefault();
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    table.addEventListener("focusin", (event) => open(event.target.closest("td")));
    table.addEventListener("focusout", close);
    table.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") open(event.target.closest("td")); });
    table.addEventListener("pointerleave", close);
    table.addEventListener("click", (event) => { if (!event.target.closest("a, button")) open(event.target.closest("td")); });
    addEventListener("scroll", close, { passive: true });
  }

  // ---- tabs wider than the screen: the one that is open is in sight ----
  function openTab(tab) {
    const bar = tab.parentElement;
    bar.scrollLeft = tab.offsetLeft - bar.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2;
  }

  // ---- search: "/" goes to the field of the head ----
  function slash(field) {
    if (!once(field, "ready")) return;
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey || !field.offsetParent) return;
      event.preventDefault();
      field.focus();
    });
  }

  // ---- pages of another noun, loaded where they are used ----
  const modules = document.currentScript.dataset; // their addresses, as the server names them
  function uploadForm(form) {
    if (!once(form, "ready")) return;
    import(modules.upload).then((module) => module.attach(form));
  }

  function picturePair(pair) {
    if (!once(pair, "ready")) return;
    import(modules.pictures).then((module) => module.attach(pair));
  }

  function regionsForm(form) {
    if (!once(form, "ready")) return;
    import(modules.regions).then((module) => module.attach(form));
  }

  const BEHAVIOURS = [
    ["time[datetime]", localTime],
    ["[data-theme-toggle]", themeToggle],
    ["table[data-sort]", sortableTable],
    ["table[data-cells]", cellTable],
    [".copy", copyBlock],
    ["button[data-copy]", copyTarget],
    ["[data-dialog]", dialogOpener],
    ["[data-open3d]", viewOpener],
    ["dialog [data-close]", dialogCloser],
    ["[data-preview]", previewButton],
    ["form[data-confirm]", confirmForm],
    ["select[data-submit], input[data-submit]", submitOnChange],
    [".tabs > [aria-current]", openTab],
    ["input[data-slash]", slash],
    ["[data-nojs]", (element) => { element.hidden = true; }],
    ["form[data-create-url]", uploadForm],
    ["[data-pair]", picturePair],
    ["form[data-regions]", regionsForm],
  ];
  const enliven = (root) => BEHAVIOURS.forEach(([selector, act]) => each(root, selector, act));
  enliven(document);
  document.addEventListener("htmx:load", (event) => enliven(event.target));
})();
