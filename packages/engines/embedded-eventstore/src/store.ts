import { type ProposedEvent, sizeOf } from './events.ts';
import type { LiveTail } from './live-tail.ts';
import { unavailable } from './refusals.ts';
import type { Reader } from './storage/reader.ts';
import type { Writer } from './storage/writer.ts';

/** The parts of the server that the calls work with. */
export interface Store {
  readonly writer: Pick<Writer, 'execute'>;
  readonly reader: Reader;
  readonly live: LiveTail;
  readonly pendingBytes: PendingBytes;
}

const MAX_BYTES = 128 * 1024 * 1024;
const EVENT_OVERHEAD_BYTES = 400;

/** Memory of an event that waits for its commit, in bytes. */
export const pendingBytesOf = (event: ProposedEvent): number => EVENT_OVERHEAD_BYTES + sizeOf(event);

/** Limits the memory of the appends of all clients that arrive or wait for their commit. */
export class PendingBytes {
  readonly #limit: number;
  #bytes = 0;

  constructor(limit = MAX_BYTES) {
    this.#limit = limit;
  }

  /** Counts `bytes` until `release`. Throws `unavailable`, and counts nothing, above the limit. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#limit)
      throw unavailable('Server Is Too Busy: too many appends wait for their commit');
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}
