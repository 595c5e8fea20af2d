/* What questions show, loaded before it is needed: the one on the page, the one after it, and the one before for undo. */

const MOST = 3; // kept ready
const PAUSES = [1, 3, 8];

async function get(address, kind) {
  const response = await fetch(address, { credentials: "same-origin" });
  if (!response.ok) throw Object.assign(new Error(`The pictures of this question could not be loaded (${response.status}); load the page again.`), { status: response.status });
  return kind === "bytes" ? response.arrayBuffer() : response.json();
}

const wait = (seconds) => new Promise((done) => { setTimeout(done, 1000 * seconds); });

async function patient(address, kind) {
  for (const pause of PAUSES) {
    try {
      return await get(address, kind);
    } catch (error) {
      if (error.status && error.status < 500) throw error;
      await wait(pause);
    }
  }
  return get(address, kind);
}

export class Scenes {
  constructor(view) {
    this.view = view;
    this.kept = new Map(); // id of a question -> promise of what the view can show
    this.loaded = new Set(); // ids of those that have come
  }

  /* Loaded once, however often it is asked for; a failure is not kept. */
  get(question) {
    const known = this.kept.get(question.id);
    this.kept.delete(question.id);
    const found = known || this.load(question);
    this.kept.set(question.id, found); // the latest stands last
    this.tidy();
    return found;
  }

  load(question) {
    const address = new URL(question.scene, location.href).href;
    const found = patient(address, "json").then((scene) => this.view.prepare(scene, address, patient));
    found.then(() => this.loaded.add(question.id), () => { if (this.kept.get(question.id) === found) this.kept.delete(question.id); });
    return found;
  }

  tidy() {
    for (const [id, found] of Array.from(this.kept).slice(0, -MOST)) {
      this.kept.delete(id);
      this.loaded.delete(id);
      found.then((ready) => { if (ready !== this.view.now) this.view.drop(ready); }, () => {});
    }
  }
}
