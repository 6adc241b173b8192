import {
  type AllStreamResolvedEvent,
  END,
  type EventStoreDBClient,
  type ReadAllOptions,
  type ReadPosition,
  START,
} from '@eventstore/db-client';
import { withReadTimeout } from './read-timeout.ts';
import { type LogPosition, positionOf } from './recorded.ts';
import { isDeletedStream } from './stream.ts';
import { asUnavailable } from './unavailable.ts';

const TIMEOUT_MS = 5_000;

/** What the log has at a position: `present`: its event; `removed`: its stream was deleted since, which removes its
 *  events; `missing`: another event, or none; `beyond-end`: the log ends before the position. */
export type Standing = 'present' | 'removed' | 'missing' | 'beyond-end';

/** Compares the log with a position at which an event was read. Resolves to the entry too if it is there. Without the
 *  event's id, any event at the position is taken for it, and a missing one for one that was deleted. */
export const standingOf = async (
  client: EventStoreDBClient,
  position: LogPosition,
): Promise<{ standing: Standing; entry?: AllStreamResolvedEvent }> => {
  const { commit, prepare, event } = position;
  const next = await entryFrom(client, { commit: BigInt(commit), prepare: BigInt(prepare) });
  if (next && next !== 'invalid' && isAt(next, position)) {
    if (!event || event.id === next.event!.id) return { standing: 'present', entry: next };
    return { standing: 'missing' };
  }
  if (next === null) return { standing: 'beyond-end' };
  if (!event) return { standing: next === 'invalid' ? 'missing' : 'removed' };
  return { standing: (await isDeletedStream(client, event.stream)) ? 'removed' : 'missing' };
};

const isAt = ({ event }: AllStreamResolvedEvent, { commit, prepare }: LogPosition): boolean =>
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
  return withReadTimeout(TIMEOUT_MS, reading, read());
};
