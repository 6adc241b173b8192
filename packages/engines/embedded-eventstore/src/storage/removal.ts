import type { ClientBase } from 'pg';
import { isMetastream, metastreamOf, originalStreamOf, type RecordedEvent, TOMBSTONE } from '../events.ts';
import { retentionOf } from './metadata.ts';
import type { StreamHead } from './stream-heads.ts';

/** Events of `stream` before revision `before`: nobody can read them any more, so they are removed. */
export interface HiddenEvents {
  readonly stream: string;
  readonly before: bigint;
}

/** The streams whose tombstone or metadata is among `events`. */
export const streamsToPrune = (events: readonly Pick<RecordedEvent, 'stream' | 'revision'>[]): string[] => [
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
export const hiddenEvents = (stream: string, heads: ReadonlyMap<string, StreamHead>): HiddenEvents[] => {
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
export const removeEvents = async (client: ClientBase, { stream, before }: HiddenEvents): Promise<number> => {
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
export const findStreamsToPrune = async (client: ClientBase, from: bigint, to: bigint): Promise<string[]> => {
  const { rows } = await client.query<{ stream: string; revision: string }>({ ...CHANGES, values: [from, to] });
  return streamsToPrune(rows.map(({ stream, revision }) => ({ stream, revision: BigInt(revision) })));
};

/** Position up to which all hidden events were removed. */
export const prunedUpTo = async (client: ClientBase): Promise<bigint> => {
  const { rows } = await client.query<{ pruned_up_to: string }>('select pruned_up_to from eventstore.removal');
  return BigInt(rows[0]!.pruned_up_to);
};

export const setPrunedUpTo = async (client: ClientBase, position: bigint): Promise<void> => {
  await client.query('update eventstore.removal set pruned_up_to = $1 where pruned_up_to < $1', [position]);
};
