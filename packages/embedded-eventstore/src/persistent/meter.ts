/** Counts messages, and what came since it was last asked. */
export class Meter {
  #total = 0;
  #last = { total: 0, atMs: 0 };

  count(): void {
    this.#total++;
  }

  read(nowMs: number): { readonly total: number; readonly sinceLast: number; readonly perSecond: number } {
    const sinceLast = this.#total - this.#last.total;
    const seconds = (nowMs - this.#last.atMs) / 1000;
    this.#last = { total: this.#total, atMs: nowMs };
    return { total: this.#total, sinceLast, perSecond: seconds > 0 ? Math.round(sinceLast / seconds) : 0 };
  }
}
