/* The time a question was looked at: stands still while the page is hidden or a break is taken. */
export class Watch {
  /* `resting` says whether it stands still now, whoever starts it. */
  constructor(resting) {
    this.resting = resting;
    this.reset();
    document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.go()));
  }

  reset() { this.sum = 0; this.since = this.resting() ? null : performance.now(); }

  stop() {
    if (this.since !== null) this.sum += performance.now() - this.since;
    this.since = null;
  }

  go() { if (!this.resting()) this.since ??= performance.now(); }

  /* Seconds, to a millisecond. */
  get seconds() { return Math.round(this.sum + (this.since === null ? 0 : performance.now() - this.since)) / 1000; }
}
