import { type FencedWriter, WriterUnavailable } from '@cpg/embedded-postgres';
import type { ClientBase } from 'pg';
import { isMetastream, metastreamOf, originalStreamOf, type RecordedEvent, TOMBSTONE } from '../events.ts';
import { retentionOf } from './metadata.ts';
import { cachedStreamHeads, loadStreamHeads, type StreamHead, type StreamHeadCache } from './stream-heads.ts';

/** Events of `stream` before revision `before`: nobody can read them any more, so they are removed. */
export interface HiddenEvents {
  readonly stream: string;
  readonly before: bigint;
}

/** The streams whose tombstone or metadata is among `events`. */
const streamsToPrune = (events: readonly Pick<RecordedEvent, 'stream' | 'revision'>[]): string[] => [
  ...new Set(
    events.flatMap(({ stream, revision }) => {
      if (revision === TOMBSTONE) return [stream];
      return isMetastream(stream) ? [originalStreamOf(stream)] : [];
    }),
  ),
];

/** The events that the tombstone or the metadata of `stream` hides. `heads` has `stream` and its metastream. The last
 *  event of a stream that is not tombstoned stays, because it tells the next revision. `$maxCount` and `$maxAge` remove
 *  nothing. Source: the rules of EventStoreDB's scavenge. */
const hiddenEvents = (stream: string, heads: ReadonlyMap<string, StreamHead>): HiddenEvents[] => {
  const metastream = metastreamOf(stream);
  const last = heads.get(stream)!.revision;
  if (last === TOMBSTONE) return [stream, metastream].map((name) => ({ stream: name, before: TOMBSTONE }));
  const { revision, metadata } = heads.get(metastream)!;
  const { truncateBefore = 0n } = retentionOf(stream, metadata);
  return [
    { stream: metastream, before: revision },
    { stream, before: truncateBefore < last ? truncateBefore : last },
  ].filter(({ before }) => before > 0n);
};

const CHUNK_EVENTS = 5_000;

const REMOVE = {
  name: 'remove-events',
  text: `with removed as (
           delete from eventstore.event where position in (
             select position from eventstore.event where stream = $1 and revision < $2 order by revision limit ${CHUNK_EVENTS})
           returning position),
         counted as (
           update eventstore.removal set removed = removed + (select count(*) from removed)
            where exists (select from removed))
         select count(*)::integer as count from removed`,
};

/** Deletes the events, in chunks. Resolves with their number. */
const removeEvents = async (client: ClientBase, { stream, before }: HiddenEvents): Promise<number> => {
  for (let total = 0; ;) {
    const { rows } = await client.query<{ count: number }>({ ...REMOVE, values: [stream, before] });
    const { count } = rows[0]!;
    total += count;
    if (count < CHUNK_EVENTS) return total;
  }
};

const CHANGES = {
  name: 'streams-to-prune',
  text: `select stream, revision from eventstore.event
          where position > $1 and position <= $2 and (revision = ${TOMBSTONE} or left(stream, 2) = '$$')`,
};

/** The streams whose tombstone or metadata is stored after position `from`, up to `to`. */
const findStreamsToPrune = async (client: ClientBase, from: bigint, to: bigint): Promise<string[]> => {
  const { rows } = await client.query<{ stream: string; revision: string }>({ ...CHANGES, values: [from, to] });
  return streamsToPrune(rows.map(({ stream, revision }) => ({ stream, revision: BigInt(revision) })));
};

/** Position up to which all hidden events were removed. */
const prunedUpTo = async (client: ClientBase): Promise<bigint> => {
  const { rows } = await client.query<{ pruned_up_to: string }>('select pruned_up_to from eventstore.removal');
  return BigInt(rows[0]!.pruned_up_to);
};

const setPrunedUpTo = async (client: ClientBase, position: bigint): Promise<void> => {
  await client.query('update eventstore.removal set pruned_up_to = $1 where pruned_up_to < $1', [position]);
};

const PAGE_POSITIONS = 5_000n;

export interface PrunerOptions {
  readonly session: FencedWriter;
  readonly heads: StreamHeadCache;
  /** Called after events were removed. */
  readonly onRemove: (hidden: HiddenEvents) => void;
}

/** Removes the events that a tombstone or a truncation hides: at once, and at a start those that a crash or an earlier
 *  version left. */
export class Pruner {
  readonly #options: PrunerOptions;
  #isCaughtUp = false;

  constructor(options: PrunerOptions) {
    this.#options = options;
  }

  /** Removes what newly committed `events` hide. Runs in a task of the session. */
  async afterCommit(client: ClientBase, events: readonly RecordedEvent[]): Promise<void> {
    await this.#prune(client, streamsToPrune(events));
  }

  /** Removes what earlier events hide, page by page between other tasks. `end` is the end of the log. */
  async catchUp(end: bigint): Promise<void> {
    const { session } = this.#options;
    this.#isCaughtUp = false;
    try {
      for (let from = await session.run(prunedUpTo); from < end; from += PAGE_POSITIONS) {
        const to = from + PAGE_POSITIONS < end ? from + PAGE_POSITIONS : end;
        await session.run(async (client) => {
          await this.#prune(client, await findStreamsToPrune(client, from, to));
          await setPrunedUpTo(client, to);
        });
      }
      this.#isCaughtUp = true;
    } catch (error) {
      // The next session catches up again.
      if (!(error instanceof WriterUnavailable)) throw error;
    }
  }

  /** Spares the next start the search up to `end`. */
  async stop(end: bigint): Promise<void> {
    if (!this.#isCaughtUp) return;
    await this.#options.session.run((client) => setPrunedUpTo(client, end)).catch(() => {});
  }

  async #prune(client: ClientBase, streams: readonly string[]): Promise<void> {
    if (streams.length === 0) return;
    const { heads: cache, onRemove } = this.#options;
    const names = streams.flatMap((stream) => [stream, metastreamOf(stream)]);
    const heads = await loadStreamHeads(client, cachedStreamHeads(cache, names));
    for (const hidden of streams.flatMap((stream) => hiddenEvents(stream, heads))) {
      await removeEvents(client, hidden);
      cache.delete(hidden.stream);
      onRemove(hidden);
    }
  }
}
