import { type AllStreamResolvedEvent, type EventStoreDBClient, START } from '@eventstore/db-client';
import type { LogPosition } from './recorded.ts';

export interface ReadLogOptions {
  /** The last entry that was handled, which comes again; null is the start of the log. */
  readonly from: LogPosition | null;
  /** Streams whose names begin with one of these. */
  readonly prefixes: readonly string[];
  /** Handles entries in log order. Must be safe to run again for any of them. */
  readonly handle: (events: AllStreamResolvedEvent[]) => Promise<void>;
  /** Ends the reading with its reason. */
  readonly signal: AbortSignal;
}

const BATCH = 256;

/** Reads the log up to its end: what was appended before this was called is among it. Resolves with the place it came
 *  to. */
export const readLog = async (
  client: EventStoreDBClient,
  { from, prefixes, handle, signal }: ReadLogOptions,
): Promise<LogPosition | null> => {
  signal.throwIfAborted();
  // Not filtered by the server: a filter is for subscriptions only.
  const reading = client.readAll({
    fromPosition: from ? { commit: BigInt(from.commit), prepare: BigInt(from.prepare) } : START,
  });
  const abort = () => void reading.destroy(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  let reached = from;
  let batch: AllStreamResolvedEvent[] = [];
  try {
    for await (const resolved of reading) {
      const { event } = resolved;
      if (!event) continue;
      reached = { commit: String(event.position.commit), prepare: String(event.position.prepare) };
      if (!prefixes.some((prefix) => event.streamId.startsWith(prefix))) continue;
      batch.push(resolved);
      if (batch.length < BATCH) continue;
      await handle(batch);
      batch = [];
    }
    if (batch.length > 0) await handle(batch);
    return reached;
  } finally {
    signal.removeEventListener('abort', abort);
  }
};
