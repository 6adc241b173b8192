import {
  type AllStreamResolvedEvent,
  END,
  type EventStoreDBClient,
  type ReadAllOptions,
  type ReadPosition,
  START,
} from '@eventstore/db-client';
import { asUnavailable } from './errors.ts';
import { type LogPosition, positionOf } from './recorded.ts';
import { isDeletedStream, withReadTimeout } from './stream.ts';

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

const ENTRY_TIMEOUT_MS = 5_000;

/** The log at the position of an event. `present`: it has the event. `removed`: its stream was deleted since, which
 *  removes its events. `missing`: it has another event, or none. `beyond-end`: it ends before the position. */
export type PositionStatus = 'present' | 'removed' | 'missing' | 'beyond-end';

/** Compares the log with a position at which an event was read. Resolves to the entry too if it is there. Without the
 *  event's id, any event at the position is taken for it, and a missing one for one that was deleted. */
export const checkPosition = async (
  client: EventStoreDBClient,
  position: LogPosition,
): Promise<{ status: PositionStatus; entry?: AllStreamResolvedEvent }> => {
  const { commit, prepare, event } = position;
  const next = await entryFrom(client, { commit: BigInt(commit), prepare: BigInt(prepare) });
  if (next && next !== 'invalid' && isEventAt(next, position)) {
    if (!event || event.id === next.event!.id) return { status: 'present', entry: next };
    return { status: 'missing' };
  }
  if (next === null) return { status: 'beyond-end' };
  if (!event) return { status: next === 'invalid' ? 'missing' : 'removed' };
  return { status: (await isDeletedStream(client, event.stream)) ? 'removed' : 'missing' };
};

const isEventAt = ({ event }: AllStreamResolvedEvent, { commit, prepare }: LogPosition): boolean =>
  String(event!.position.commit) === commit && String(event!.position.prepare) === prepare;

/** The error of EventStoreDB for a position inside of a record. */
const INVALID_POSITION = /invalid position/i;

/** The first entry of the log at or after a position; null at the end of the log. */
const entryFrom = async (
  client: EventStoreDBClient,
  fromPosition: ReadPosition = START,
): Promise<AllStreamResolvedEvent | 'invalid' | null> => {
  try {
    return await readOne(client, { fromPosition });
  } catch (error) {
    if (INVALID_POSITION.test((error as Error).message)) return 'invalid';
    throw asUnavailable(error);
  }
};

/** The position of the last entry of the log; null while it is empty. */
export const endOfLog = async (client: EventStoreDBClient): Promise<LogPosition | null> => {
  try {
    const last = await readOne(client, { direction: 'backwards', fromPosition: END });
    return last && positionOf(last);
  } catch (error) {
    throw asUnavailable(error);
  }
};

const readOne = async (client: EventStoreDBClient, options: ReadAllOptions): Promise<AllStreamResolvedEvent | null> => {
  const reading = client.readAll({ ...options, maxCount: 1 });
  const read = async () => {
    let found: AllStreamResolvedEvent | null = null;
    // Read to the end: a read that stops early stays open.
    for await (const resolved of reading) if (resolved.event) found = resolved;
    return found;
  };
  return withReadTimeout(ENTRY_TIMEOUT_MS, reading, read());
};
