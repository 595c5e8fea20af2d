/* The page of a rater: shows a question, takes its answers, and has the next one ready.

   The server says which question is next; while an answer is on its way the question that was to follow is shown already.
   Server's answers: see leaderboard/studies/live. Everything said to a rater about the state of the network comes from here. */

import { Ask } from "./ask.js";
import { Scenes } from "./scenes.js";
import { Session } from "./session.js";
import { RateSlides } from "./slides.js";
import { Tools } from "./tools.js";
import { Watch } from "./watch.js";
import { CHOICES, counted, GRADES, left, make } from "./words.js";

const DOUBLE = 300; // milliseconds in which a second click or key belongs to the first
const SLOW = 150; // milliseconds before the page says that it is loading

const painted = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });

export class RatePage {
  constructor(root) {
    this.root = root;
    this.part = (name) => root.querySelector(`[data-part=${name}]`);
    const { form, kind, next, answer, undo } = root.dataset;
    const View = form === "render" ? RateSlides : window.plumblineModels;
    this.view = new View(this.part("stage"), form, () => this.viewed());
    this.tools = new Tools(this.part("tools"), this.view);
    this.ask = new Ask(this.part("ask"), kind, (value) => this.answer(value));
    this.scenes = new Scenes(this.view);
    this.watch = new Watch(() => document.hidden || this.part("break").open);
    this.session = new Session({ next, answer, undo }, { heard: (payload) => this.heard(payload), troubled: (trouble) => this.troubled(trouble) });
    this.shown = null; // {question, answers, step, from}: what a person sees and may answer
    this.wanted = ""; // id of the question that is being brought onto the page
    this.breaks = new Set();
    this.least = Number(root.dataset.minWidth) || 0; // pixels of a window that is wide enough
    this.device = ""; // what the last answer was given with
    this.listen();
    this.listKeys(View);
    this.viewed();
    this.lock(true);
    this.session.start();
  }

  // ---- what the server says ----

  heard(payload) {
    this.payload = payload;
    if (payload.note) this.note(payload.note);
    this.head(payload.progress);
    this.practice(payload.practice);
    this.part("question").textContent = payload.study.question;
    // The answer to what is on the page may be waiting itself: then this is not yet the last word.
    const ahead = this.session.waiting.length > 0;
    if (payload.following) this.scenes.get(payload.following).catch(() => {});
    if (ahead) return;
    if (payload.feedback) {
      if (payload.question) this.scenes.get(payload.question).catch(() => {});
      this.feedback(payload.feedback);
      return;
    }
    this.goOn(payload);
  }

  /* To what the server asks next, or to the end. */
  goOn(payload) {
    if (payload.closed || payload.done || !payload.question) this.end(payload);
    else if (this.shown?.question.id !== payload.question.id && this.wanted !== payload.question.id) this.present(payload.question);
    this.undoable();
    this.suggestBreak(payload);
  }

  practice(place) {
    const tag = this.part("practice");
    if (place) tag.textContent = `Practice ${place[0]} of ${place[1]}: does not count`;
    tag.hidden = !place;
    this.part("bar").closest(".rate-progress").toggleAttribute("data-empty", Boolean(place));
  }

  /* What is known of the pair on the page, which stays until the rater goes on; the tag is still that of its question. */
  feedback(words) {
    this.loading(false);
    this.lock(true);
    this.practice(this.shownPractice);
    delete this.root.dataset.question;
    this.part("feedback-words").textContent = words;
    this.part("feedback").hidden = false;
    this.part("ask").hidden = true;
    this.part("feedback-on").focus({ preventScroll: true });
    this.say(words);
  }

  leaveFeedback() {
    if (this.part("feedback").hidden) return;
    this.part("feedback").hidden = true;
    this.part("ask").hidden = false;
    this.practice(this.payload.practice);
    this.goOn(this.payload);
  }

  head({ answered, total, per_hour: rate, seconds_left: seconds }) {
    const bar = this.part("bar");
    bar.max = Math.max(1, total ?? answered + 1);
    bar.value = answered;
    this.part("done").textContent = total === null || total === undefined ? `${answered.toLocaleString("en")} answered` : `${answered.toLocaleString("en")} of ${total.toLocaleString("en")} answered`;
    this.part("rate").textContent = [rate && answered ? `${Math.round(rate).toLocaleString("en")} an hour` : "", answered < (total ?? Infinity) ? left(seconds) : ""].filter(Boolean).join(" · ");
  }

  troubled(trouble) {
    const alert = this.part("trouble");
    clearInterval(this.countdown);
    if (!trouble) {
      if (!alert.dataset.stays) alert.hidden = true;
      return;
    }
    const { words, seconds, reload } = trouble;
    alert.hidden = false;
    if (seconds === undefined) {
      alert.dataset.stays = "1";
      const again = make("button", { type: "button", className: "small" }, "Load again");
      again.addEventListener("click", () => location.reload());
      alert.replaceChildren(words, ...(reload ? [" ", again] : []));
      return;
    }
    delete alert.dataset.stays;
    const clock = make("span", { className: "soft" });
    const now = make("button", { type: "button", className: "small" }, "Try now");
    now.addEventListener("click", () => this.session.hurry());
    let rest = Math.ceil(seconds);
    const tick = () => { clock.textContent = rest > 0 ? ` Next try in ${rest} s.` : " Trying …"; rest -= 1; };
    tick();
    this.countdown = setInterval(tick, 1000);
    clock.setAttribute("aria-hidden", "true"); // a screen reader need not hear every second
    alert.replaceChildren(words, clock, " ", now);
  }

  note(words) {
    const place = this.part("note");
    place.textContent = words;
    place.hidden = false;
  }

  // ---- one question after the other ----

  async present(question, from = performance.now()) {
    this.wanted = question.id;
    this.shown = null;
    this.lock(true);
    const slow = setTimeout(() => this.loading(true), SLOW);
    let ready;
    try {
      ready = await this.scenes.get(question);
    } catch (error) {
      if (this.wanted === question.id) this.failed(question, error);
      return;
    } finally {
      clearTimeout(slow);
    }
    if (this.wanted !== question.id) return; // something else came first
    this.loading(false);
    this.finished(false);
    this.view.show(ready);
    this.tools.update();
    this.legend();
    this.part("prompt").hidden = !ready.prompt;
    this.part("prompt").textContent = ready.prompt ? `Asked for: “${ready.prompt}”` : "";
    this.shown = { question, answers: {}, step: 0 };
    this.shownPractice = this.payload.practice;
    this.wanted = "";
    this.step();
    await painted();
    if (this.shown?.question !== question) return;
    performance.measure("rate:between", { start: from, end: performance.now(), detail: question.number });
    this.watch.reset();
    this.lock(false);
    this.since = performance.now();
    this.root.dataset.question = question.number;
    this.say(`Question ${question.number}. ${this.criteria[0]?.title || this.part("question").textContent}`);
  }

  get criteria() { return this.payload.study.criteria.length ? this.payload.study.criteria : [{ key: "", title: "", text: "" }]; }

  step() {
    this.ask.show(this.criteria, this.shown.step);
    this.since = performance.now();
    this.undoable();
  }

  answer(value) {
    if (!this.shown || this.locked || this.narrow() || performance.now() - this.since < DOUBLE) return;
    const { shown } = this;
    shown.answers[this.criteria[shown.step].key] = value;
    this.ask.flash(value);
    this.part("note").hidden = true;
    if (shown.step + 1 < this.criteria.length) {
      shown.step += 1;
      this.step();
      this.say(`${this.said(value)}. ${this.criteria[shown.step].title}`);
      return;
    }
    this.send(value);
  }

  said(value) { return CHOICES[value] || `${value}, ${GRADES[value]}`; }

  send(value) {
    const from = performance.now();
    const { question, answers } = this.shown;
    const { following } = this.payload;
    const trouble = this.part("trouble");
    if (trouble.dataset.stays) { delete trouble.dataset.stays; trouble.hidden = true; }
    this.say(this.said(value));
    this.session.answer(question.id, answers, this.watch.seconds, { viewport_width: window.innerWidth, viewport_height: window.innerHeight, device: this.device });
    const { progress, practice } = this.payload;
    this.payload = { ...this.payload, following: null, progress: { ...progress, answered: progress.answered + (practice ? 0 : 1) } };
    this.head(this.payload.progress);
    if (following && following.id !== question.id) this.present(following, from);
    else {
      this.shown = null;
      this.lock(true);
      this.loading(true);
    }
  }

  /* Back by one criterion, or to the question before. */
  undo() {
    if (this.shown?.step) {
      this.shown.step -= 1;
      delete this.shown.answers[this.criteria[this.shown.step].key];
      this.step();
      this.say(this.criteria[this.shown.step].title);
      return;
    }
    const token = this.payload?.undo;
    if (!token || this.session.waiting.length) return;
    this.payload.undo = null;
    this.undoable();
    this.say("Undone");
    this.session.undo(token);
  }

  undoable() {
    this.part("undo").disabled = !(this.shown?.step || (this.payload?.undo && !this.session.waiting.length));
  }

  failed(question, error) {
    if (error.status === 404 && this.gone !== question.id) {
      // The entry may have been withdrawn meanwhile: then the server asks something else.
      this.gone = question.id;
      this.wanted = "";
      this.session.start();
      return;
    }
    this.loading(false);
    const again = make("button", { type: "button", className: "small" }, "Try again");
    again.addEventListener("click", () => { this.part("trouble").hidden = true; this.present(question); });
    const words = error instanceof TypeError ? "The pictures of this question could not be loaded: the network does not answer." : error.message;
    this.part("trouble").hidden = false;
    this.part("trouble").replaceChildren(words, " ", again);
  }

  end({ closed, done, progress, undo, completion }) {
    this.shown = null;
    this.wanted = "";
    this.lock(true);
    this.loading(false);
    delete this.root.dataset.question;
    const none = done && !progress.answered;
    const title = none ? "There are no questions for you" : closed ? "No more answers are taken" : done ? "That was all. Thank you." : "There is nothing to rate now";
    const { preview } = this.payload;
    const walked = preview && `This was the preview, and nothing of it is stored. A rater is asked ${counted(preview.total, "question", "questions")}.`;
    const words = closed || (none && "All of them are on entries of your own team, or on some that were withdrawn.") || walked || (done ? `You have answered ${counted(progress.answered, "question", "questions")}; every answer is stored.` : "Come back later: there may be more.");
    this.part("end-title").textContent = title;
    this.part("end-words").textContent = words;
    this.part("undo-end").hidden = !undo;
    this.complete(completion);
    this.finished(true);
    this.say(`${title} ${words}`);
  }

  /* Back to the panel that sent them, or its code. */
  complete(completion) {
    const place = this.part("completion");
    place.hidden = !completion;
    if (completion?.address) place.replaceChildren(make("a", { className: "button primary", href: completion.address }, "Finish at your panel"));
    else if (completion) place.replaceChildren("Your completion code: ", make("code", {}, completion.code));
  }

  // ---- what is seen ----

  viewed() {
    if (!this.tools) return;
    this.tools.update();
    this.legend();
  }

  legend() {
    const hint = make("span", { className: "rate-hint" }, this.view.constructor.hint);
    this.part("legend").replaceChildren(...this.view.legend(), hint);
  }

  /* True where the window is too narrow for the study now; it says so. */
  narrow() {
    const narrow = this.least > 0 && window.innerWidth < this.least;
    if (narrow) this.note(`This study needs a window at least ${this.least.toLocaleString("en")} pixels wide, and yours has ${window.innerWidth.toLocaleString("en")}; make it wider, or continue on a larger screen.`);
    return narrow;
  }

  lock(on) {
    this.locked = on;
    this.ask.enable(!on);
    this.undoable();
  }

  loading(on) {
    this.part("loading").hidden = !on;
    this.root.toggleAttribute("aria-busy", on);
  }

  finished(on) {
    this.part("end").hidden = !on;
    for (const name of ["stage", "tools", "legend", "ask-body"]) this.part(name).hidden = on;
  }

  say(words) { this.part("status").textContent = words; }

  suggestBreak({ study, progress }) {
    const { since_break: n } = progress;
    const dialog = this.part("break");
    if (!study.break_every || n < study.break_every || n % study.break_every || this.breaks.has(progress.answered) || !this.payload.question) return;
    this.breaks.add(progress.answered);
    this.part("break-words").textContent = `You have given ${counted(n, "answer", "answers")} without a longer pause. Tired eyes answer less surely. Your answers are stored, and you continue with the next question.`;
    this.watch.stop();
    dialog.showModal();
  }

  // ---- keys ----

  listen() {
    this.part("undo").addEventListener("click", () => this.undo());
    this.part("undo-end").addEventListener("click", () => this.undo());
    this.part("feedback-on").addEventListener("click", () => this.leaveFeedback());
    // Before the buttons hear of it: what an answer is given with. A key on a button clicks it without a pointer.
    this.root.addEventListener("click", (event) => { this.device = event.detail === 0 ? "keyboard" : event.pointerType === "mouse" || !event.pointerType ? "mouse" : "touch"; }, true);
    this.part("break").addEventListener("close", () => this.watch.go());
    this.root.addEventListener("rate:trouble", (event) => this.note(event.detail));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest("input, select, textarea, [contenteditable]")) return;
    if ((event.key === " " || event.key === "Enter") && target.closest("button, a, summary")) return;
    if (this.press(event)) event.preventDefault();
  }

  press(event) {
    const plain = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const key = event.shiftKey && plain.startsWith("Arrow") ? `shift+${plain}` : plain;
    if (key === "?") { this.part("help").showModal(); return true; }
    const value = this.ask.value(key);
    if (!this.part("feedback").hidden) {
      if (key === "Enter" && !event.repeat) this.leaveFeedback();
      return key === "Enter";
    }
    if (value !== null) {
      if (!event.repeat) {
        this.device = "keyboard";
        this.answer(value);
      }
      return true;
    }
    if (key === "Backspace" || key === "u") {
      if (!event.repeat) this.undo();
      return true;
    }
    return Boolean(this.view.now) && this.tools.press(key);
  }

  listKeys(View) {
    const answers = this.root.dataset.kind === "opinions" ? [["1 to 5", "your score"]] : [["←", "left is better"], ["→", "right is better"], ["↓ or space", "equal"]];
    const rows = [...answers, ["Backspace or U", "undo the last answer"], ...View.keyWords, ...this.tools.words.map(([key, words]) => [key, words[0].toLowerCase() + words.slice(1)]), ["?", "this list"]];
    this.part("keys").replaceChildren(...rows.flatMap(([key, words]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)]));
    this.part("hint").textContent = `${View.hint[0].toUpperCase()}${View.hint.slice(1)}; on a touch screen two fingers move and zoom. All pictures move together.`;
  }
}

document.querySelectorAll("[data-rate]").forEach((root) => { root.ratePage = new RatePage(root); });
