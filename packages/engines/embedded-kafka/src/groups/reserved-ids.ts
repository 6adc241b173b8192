/** Member ids that were sent with MEMBER_ID_REQUIRED, until their consumers join with them or the time is over. */
export class ReservedIds {
  private readonly after: (ms: number, run: () => void) => () => void;
  private readonly onExpired: () => void;
  /** By id: cancels the expiry. */
  private readonly cancelExpiry = new Map<string, () => void>();

  constructor(after: (ms: number, run: () => void) => () => void, onExpired: () => void) {
    this.after = after;
    this.onExpired = onExpired;
  }

  get size(): number {
    return this.cancelExpiry.size;
  }

  reserve(id: string, ms: number): void {
    const expire = () => {
      this.cancelExpiry.delete(id);
      this.onExpired();
    };
    this.cancelExpiry.set(id, this.after(ms, expire));
  }

  /** Ends the reservation. Returns whether the id was reserved. */
  release(id: string): boolean {
    this.cancelExpiry.get(id)?.();
    return this.cancelExpiry.delete(id);
  }

  clear(): void {
    for (const cancel of this.cancelExpiry.values()) cancel();
    this.cancelExpiry.clear();
  }
}
