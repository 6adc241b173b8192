import { CheckpointSigned, TRANSPARENCY_LOG_STREAM } from '@cpg/contracts';
import {
  appendOne,
  endOf,
  eventsOf,
  isTombstone,
  lastEvent,
  type LogPosition,
  positionOf,
  readLog,
  type Recorded,
} from '@cpg/event-sourcing';
import { type Pool, transaction } from '@cpg/platform/postgres';
import {
  appendLeaves,
  checkpointText,
  leafHash,
  type NoteSigner,
  type ReadTile,
  rootOf,
  subtreesIn,
  type Tile,
} from '@cpg/transparency-log';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { z } from 'zod';
import { readRevision, tilesIn, writeLog } from './log-tables.ts';

// The stream is the log: it keeps each leaf, also of events that were deleted since. The tables are made of it, so that
// tiles can be served, and are made again when they are lost.

export interface LogStores {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
}

/** How many leaves one checkpoint adds at most. */
const MAX_LEAVES = 1_000;

type RecordedCheckpoint = Recorded<CheckpointSigned>;

/** Brings the tables to the end of the stream. Resolves to its last event; null before the first one. */
export const followLogStream = async ({ client, pool }: LogStores): Promise<RecordedCheckpoint | null> => {
  const last = await lastEvent(client, TRANSPARENCY_LOG_STREAM, CheckpointSigned);
  const { revision: end } = endOf(TRANSPARENCY_LOG_STREAM, last);
  const revision = await readRevision(pool);
  if (revision > end)
    throw new Error(
      `the tables have ${revision + 1} checkpoints of the transparency log, and the event store ` +
        `${end + 1}: the event store is an older one. Find out why before anything else`,
    );
  if (revision === end) return last;
  for await (const recorded of eventsOf(client, TRANSPARENCY_LOG_STREAM, CheckpointSigned, revision + 1))
    await writeCheckpoint(pool, recorded);
  return last;
};

const writeCheckpoint = async (pool: Pool, { revision, event }: RecordedCheckpoint): Promise<void> => {
  const { entries, size, checkpoint } = event.data;
  const tiles = await appendLeaves(tilesIn(pool), size - entries.length, leavesOf(entries));
  // Another process may have written it meanwhile.
  await transaction(pool, (db) => writeLog(db, tiles, { revision, checkpoint }));
};

const leavesOf = (entries: readonly string[]): Buffer[] => entries.map((entry) => leafHash(Buffer.from(entry)));

/** Recorded events that are not in the log yet. */
export interface NewLeaves {
  /** At most 1,000. */
  readonly entries: readonly string[];
  /** The position of the last of them. */
  readonly upTo: CheckpointSigned['data']['upTo'];
  readonly isFull: boolean;
}

/** Reads the events after the last checkpoint. Null if there are none. */
export const readNewLeaves = async (
  client: EventStoreDBClient,
  last: RecordedCheckpoint | null,
  signal: AbortSignal,
): Promise<NewLeaves | null> => {
  const start = last?.event.data.upTo ?? null;
  const leaves: { readonly entry: string; readonly position: LogPosition }[] = [];
  const handle = async (events: AllStreamResolvedEvent[]) => {
    for (const resolved of events) {
      const position = positionOf(resolved);
      const entry = entryOf(resolved);
      // The first entry of a read is the last of the read before.
      if (entry !== null && !isAt(position, leaves.at(-1)?.position ?? start)) leaves.push({ entry, position });
    }
  };
  let from = start;
  for (;;) {
    const reached = await readLog(client, { from, prefixes: [''], handle, maxCount: MAX_LEAVES, signal });
    if (leaves.length >= MAX_LEAVES || reached === null || isAt(reached, from)) break;
    from = reached;
  }
  const added = leaves.slice(0, MAX_LEAVES);
  if (added.length === 0) return null;
  const { commit, prepare } = added.at(-1)!.position;
  return { entries: added.map(({ entry }) => entry), upTo: { commit, prepare }, isFull: added.length === MAX_LEAVES };
};

const isAt = ({ commit, prepare }: LogPosition, other: LogPosition | null): boolean =>
  commit === other?.commit && prepare === other.prepare;

const Hashed = z.object({ hash: z.hex().length(64) });

/** The entry of a recorded event: where it stands, and its hash. Null of what is no leaf: an event without a hash is
 *  none of ours. */
const entryOf = (resolved: AllStreamResolvedEvent): string | null => {
  const { streamId: stream, revision, metadata } = resolved.event!;
  if (stream === TRANSPARENCY_LOG_STREAM || stream.startsWith('$') || isTombstone(resolved)) return null;
  const { data } = Hashed.safeParse(metadata);
  return data ? `${revision}@${stream} ${data.hash}` : null;
};

const ACTOR = 'service:gateway';

/** Adds leaves to the log with a signed checkpoint. The tables are those of `last`. Resolves to false if another
 *  process did meanwhile. */
export const signCheckpoint = async (
  { client, pool }: LogStores,
  last: RecordedCheckpoint | null,
  { entries, upTo }: NewLeaves,
  { signer, now }: { readonly signer: NoteSigner; readonly now: () => Date },
): Promise<boolean> => {
  const before = last?.event.data.size ?? 0;
  const tiles = await appendLeaves(tilesIn(pool), before, leavesOf(entries));
  const size = before + entries.length;
  const root = await rootOf(subtreesIn(withTiles(tilesIn(pool), tiles)), size);
  const event: CheckpointSigned = {
    type: 'CheckpointSigned',
    data: {
      size,
      entries: [...entries],
      upTo,
      checkpoint: signer.sign(checkpointText({ origin: signer.name, size, root })),
      at: now().toISOString(),
    },
  };
  const end = endOf(TRANSPARENCY_LOG_STREAM, last);
  return (await appendOne(client, TRANSPARENCY_LOG_STREAM, event, end, ACTOR)) !== null;
};

/** Reads tiles that are not written yet before those that are. */
const withTiles =
  (read: ReadTile, tiles: readonly Tile[]): ReadTile =>
  async (level, index) =>
    tiles.find((tile) => tile.level === level && tile.index === index)?.hashes ?? read(level, index);
