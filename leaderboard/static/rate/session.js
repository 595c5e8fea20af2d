/* Answers on their way to the server. Each is kept in the browser until the server has taken it, so that nothing is
   lost with the network or the page; the server takes each question once, so that nothing is doubled by sending again. */

const PAUSES = [1, 2, 4, 8, 15]; // seconds before the next try; the last one from then on
const AGAIN = [408, 425, 429, 500, 502, 503, 504];
const UNREACHED = "The network does not answer.";

const UNKNOWN = "This browser is not known here any more, perhaps because you were logged out. Load the page again to continue where you left.";

class Refusal extends Error {} // for good: the same would be refused again
class Halt extends Error {} // until the page is loaded again

export class Session {
  /* `heard(payload)` after every answer of the server; `troubled({words, seconds} | null)` while it cannot be reached. */
  constructor(addresses, { heard, troubled }) {
    Object.assign(this, { addresses, heard, troubled, tries: 0, busy: false });
    this.place = `plumbline.answers:${addresses.answer}`;
    window.addEventListener("online", () => this.hurry());
  }

  // ---- what is not there yet ----

  get waiting() {
    try {
      const found = JSON.parse(localStorage.getItem(this.place) || "[]");
      return Array.isArray(found) ? found : [];
    } catch {
      return this.memory || [];
    }
  }

  set waiting(list) {
    this.memory = list;
    try {
      if (list.length) localStorage.setItem(this.place, JSON.stringify(list)); else localStorage.removeItem(this.place);
    } catch { /* private windows may have no room: then the page alone keeps it */ }
  }

  // ---- acts; all of them are sent one after the other ----

  start() { return this.work("next"); }

  /* `conditions` are the size of the window and the kind of device. */
  answer(question, answers, seconds, conditions) {
    this.waiting = [...this.waiting.filter((one) => one.question !== question), { question, answers, seconds, ...conditions }];
    return this.work();
  }

  /* Once everything before it is there. */
  undo(question) { return this.work({ question }); }

  hurry() {
    if (this.wake) this.wake();
  }

  /* `last`: "next", {question} to undo, or nothing: what follows the waiting answers. */
  async work(last) {
    if (last) this.last = last;
    if (this.busy) return;
    this.busy = true;
    try {
      while (!this.halted && (this.waiting.length || this.last)) await this.one();
    } finally {
      this.busy = false;
    }
  }

  async one() {
    const [first] = this.waiting;
    const last = this.last;
    try {
      const payload = first ? await this.post(this.addresses.answer, first) : await (last === "next" ? this.get() : this.post(this.addresses.undo, last));
      this.settle(first, last);
      this.tries = 0;
      this.troubled(null);
      this.heard(payload);
    } catch (error) {
      if (error instanceof Halt) {
        this.halted = true;
        this.troubled({ words: error.message + (first ? " Your answer is kept in this browser and sent then." : ""), reload: true });
        return undefined;
      }
      if (!(error instanceof Refusal)) return this.pause(error, Boolean(first));
      // Refused for good: the server says why; what it holds is what counts.
      this.settle(first, last);
      this.troubled({ words: error.message });
      if (last === "next" && !first) return undefined;
      this.last = "next";
    }
    return undefined;
  }

  settle(first, last) {
    if (first) this.waiting = this.waiting.filter((one) => one.question !== first.question);
    else if (this.last === last) this.last = null;
  }

  async pause(error, isAnswer) {
    const seconds = Math.max(error.after || 0, PAUSES[Math.min(this.tries, PAUSES.length - 1)]);
    this.tries += 1;
    const kept = isAnswer ? " Your answer is kept in this browser and sent again by itself." : " It is tried again by itself.";
    this.troubled({ words: error.message + kept, seconds, tries: this.tries });
    await new Promise((done) => { this.wake = done; setTimeout(done, 1000 * seconds); });
    this.wake = null;
  }

  // ---- the wire ----

  get() { return this.send(this.addresses.next, {}); }

  post(address, content) {
    const token = document.querySelector('meta[name="csrf-token"]')?.content || "";
    return this.send(address, { method: "POST", body: JSON.stringify(content), keepalive: true, headers: { "Content-Type": "application/json", "X-CSRFToken": token } });
  }

  async send(address, options) {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), 20_000);
    let response;
    try {
      response = await fetch(address, { credentials: "same-origin", cache: "no-store", signal: limit.signal, ...options, headers: { Accept: "application/json", ...options.headers } });
      const told = await body(response);
      if (response.ok && told) return told;
      if (response.ok || response.status === 401 || response.status === 403) throw new Halt(UNKNOWN);
      if (!AGAIN.includes(response.status)) throw new Refusal(told?.detail || `The server refused this (${response.status}); load the page again.`);
      throw Object.assign(new Error(told?.detail || "The server is busy."), { after: Number(response.headers.get("Retry-After")) || 0 });
    } catch (error) {
      if (error instanceof Refusal || error instanceof Halt || error.after !== undefined) throw error;
      throw new Error(UNREACHED);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function body(response) {
  return /json/.test(response.headers.get("Content-Type") || "") ? response.json() : null;
}
