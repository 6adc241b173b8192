/** The part of a connection that the bound needs. */
interface Closable {
  readonly destroy: (reason: Error) => unknown;
}

/** Bounds the memory for requests of which only a part has arrived, of all connections together. Beyond the bound, the
 *  connection with the largest part is closed: ordinary clients have small parts, and only for a moment. */
export class PartialRequests {
  private readonly sizes = new Map<Closable, number>();
  private total = 0;
  private readonly maxBytes: number;
  private readonly reasonToClose: (maxBytes: number) => Error;

  constructor(maxBytes: number, reasonToClose: (maxBytes: number) => Error) {
    this.maxBytes = maxBytes;
    this.reasonToClose = reasonToClose;
  }

  /** Records that `connection` holds `bytes` now. */
  set(connection: Closable, bytes: number): void {
    this.total += bytes - (this.sizes.get(connection) ?? 0);
    if (bytes > 0) this.sizes.set(connection, bytes);
    else this.sizes.delete(connection);
    while (this.total > this.maxBytes) this.closeLargest();
  }

  private closeLargest(): void {
    const [largest] = [...this.sizes].reduce((most, entry) => (entry[1] > most[1] ? entry : most));
    this.set(largest, 0);
    largest.destroy(this.reasonToClose(this.maxBytes));
  }
}
