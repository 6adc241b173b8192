import { type AllStreamResolvedEvent, type EventStoreDBClient, START } from '@eventstore/db-client';
import { type LogPosition, positionOf } from './recorded.ts';

export interface ReadLogOptions {
  /** Position of the last handled entry, which is read again. Null is the start of the log. */
  readonly from: LogPosition | null;
  /** Stream name prefixes to read. */
  readonly prefixes: readonly string[];
  /** Handles entries in log order. Must be idempotent. */
  readonly handle: (events: AllStreamResolvedEvent[]) => Promise<void>;
  /** Called with the position up to which everything was handled. */
  readonly onHandled?: (position: LogPosition) => void;
  /** How many entries to read, of any stream. Default: all. */
  readonly maxCount?: number;
  /** Stops the read; it then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

const BATCH = 256;
/** Entries of other streams between two calls of `onHandled`. */
const MOST_SKIPPED = 4_096;

/** Reads the log up to its current end, including everything appended before the call, or `maxCount` entries of it.
 *  Resolves to the position it reached. */
export const readLog = async (
  client: EventStoreDBClient,
  { from, prefixes, handle, onHandled, maxCount, signal }: ReadLogOptions,
): Promise<LogPosition | null> => {
  signal.throwIfAborted();
  // The server filters subscriptions only, not reads.
  const reading = client.readAll({
    fromPosition: from ? { commit: BigInt(from.commit), prepare: BigInt(from.prepare) } : START,
    ...(maxCount !== undefined && { maxCount }),
  });
  const abort = () => void reading.destroy(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  let position = from;
  let batch: AllStreamResolvedEvent[] = [];
  let skipped = 0;
  const handleBatch = async () => {
    if (batch.length > 0) await handle(batch);
    if (position) onHandled?.(position);
    batch = [];
    skipped = 0;
  };
  try {
    for await (const resolved of reading) {
      const { event } = resolved;
      if (!event) continue;
      position = positionOf(resolved);
      if (prefixes.some((prefix) => event.streamId.startsWith(prefix))) batch.push(resolved);
      else skipped += 1;
      if (batch.length === BATCH || skipped === MOST_SKIPPED) await handleBatch();
    }
    await handleBatch();
    return position;
  } finally {
    signal.removeEventListener('abort', abort);
  }
};
