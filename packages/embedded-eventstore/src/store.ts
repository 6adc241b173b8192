import type { LiveTail } from './live.ts';
import type { Reader } from './storage/reader.ts';
import type { Writer } from './storage/writer.ts';

/** What the protocol is served from. */
export interface Store {
  readonly writer: Pick<Writer, 'execute'>;
  readonly reader: Reader;
  readonly live: LiveTail;
}
