import type { LiveTail } from './live-tail.ts';
import type { PendingBytes } from './protocol/pending-bytes.ts';
import type { Reader } from './storage/reader.ts';
import type { Writer } from './storage/writer.ts';

/** The parts of the server that the calls work with. */
export interface Store {
  readonly writer: Pick<Writer, 'execute'>;
  readonly reader: Reader;
  readonly live: LiveTail;
  readonly pendingBytes: PendingBytes;
}
