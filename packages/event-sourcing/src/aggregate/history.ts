import type { HistoryPage, RecordedEntry, RecordedHistory } from '@cpg/contracts';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { z } from 'zod';
import type { Decider } from '../decider.ts';
import { AnyEvent, type DomainEvent, hashedFields, type Recorded } from '../store/recorded.ts';
import { eventsOf } from '../store/stream.ts';
import { evolveRecorded } from './state-at.ts';

interface HistoryOptions<State, E extends DomainEvent, M> {
  readonly client: EventStoreDBClient;
  readonly decider: Pick<Decider<State, never, E>, 'initial' | 'evolve'>;
  readonly schema: z.ZodType<E>;
  /** The message for an event and the state right after it; null for no message. */
  readonly messageOf: (recorded: Recorded<E>, state: State) => M | null;
}

/** Instants in ISO 8601 with milliseconds, both inclusive. `after` is the cursor of the last message already
 *  received. */
export interface HistoryRange {
  readonly from: string;
  readonly to: string;
  readonly after?: string | undefined;
}

export interface HistoryStream {
  readonly name: string;
  /** Time of its first event or earlier. Empty when unknown. */
  readonly startedAt: string;
}

const MAX_MESSAGES = 50;
/** Characters of JSON per page. A larger message gets a page of its own. */
const MAX_CHARACTERS = 256 * 1024;

/** Reads a page of the merged history of some streams, in cursor order. `streams` must be sorted by `startedAt`. The
 *  cursor (`place` in the response) is the time of an event, or of an earlier event of its stream if that is later, so
 *  that each stream keeps its order. Cursors compare as text, also across services. Memory is bounded by the page. */
export const readHistory = async <State, E extends DomainEvent & { data: { at: string } }, M>(
  { client, decider, schema, messageOf }: HistoryOptions<State, E, M>,
  streams: readonly HistoryStream[],
  { from, to, after = '' }: HistoryRange,
): Promise<HistoryPage<M>> => {
  const page = boundedPage<M>();
  for (const { name, startedAt } of streams) {
    if (page.endsBefore(startedAt)) break;
    let state = decider.initial;
    let latest = '';
    for await (const recorded of eventsOf(client, name, schema)) {
      const { id, event, revision } = recorded;
      const { at } = event.data;
      state = evolveRecorded(decider, state, recorded);
      if (`${at} ${id}` > latest) latest = `${at} ${id}`;
      const cursor = `${latest} ${String(revision).padStart(10, '0')}`;
      if (cursor <= after || at < from || at > to) continue;
      const message = messageOf(recorded, state);
      if (message !== null && !page.add(cursor, message)) break;
    }
  }
  return page.result();
};

/** Keeps the first messages by cursor, as many as fit on a page. */
const boundedPage = <M>() => {
  const entries: { cursor: string; message: M; size: number }[] = [];
  let size = 0;
  // Messages from this cursor on belong to the next page.
  let end: string | null = null;
  const isFull = () => entries.length > MAX_MESSAGES || (size > MAX_CHARACTERS && entries.length > 1);
  return {
    /** False when this message and all later ones belong to the next page. */
    add: (cursor: string, message: M): boolean => {
      if (end !== null && cursor >= end) return false;
      const entry = { cursor, message, size: JSON.stringify(message).length };
      const index = entries.findIndex((other) => other.cursor > cursor);
      entries.splice(index < 0 ? entries.length : index, 0, entry);
      size += entry.size;
      while (isFull()) {
        const last = entries.pop()!;
        size -= last.size;
        end = last.cursor;
      }
      return end === null || cursor < end;
    },
    endsBefore: (instant: string): boolean => end !== null && instant > end,
    result: (): HistoryPage<M> => ({
      messages: entries.map(({ cursor, message }) => ({ place: cursor, message })),
      more: end !== null,
    }),
  };
};

/** A recorded event in the format of the audit export. */
export const historyEntry = (recorded: Recorded<AnyEvent>): RecordedEntry => ({
  ...hashedFields(recorded),
  at: recorded.event.data.at,
  recorded_at: recorded.recordedAt!.toISOString(),
  hash: recorded.metadata.hash,
  data: recorded.event.data,
});

const stateless = { initial: null, evolve: () => null };

/** Reads recorded events of some streams page by page, as `readHistory` does. */
export const readHistoryEntries = (
  client: EventStoreDBClient,
  streams: readonly HistoryStream[],
  range: HistoryRange,
): Promise<RecordedHistory> =>
  readHistory({ client, decider: stateless, schema: AnyEvent, messageOf: historyEntry }, streams, range);
