import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import { isMetastream, NO_REVISION } from '../events.ts';

/** The end of a stream. */
export interface StreamHead {
  /** Last revision; NO_REVISION without events, TOMBSTONE for a tombstoned stream. */
  readonly revision: bigint;
  /** Of a metastream: data of its last event, which is the metadata of the original stream. Else null. */
  readonly metadata: Buffer | null;
}

const ABSENT: StreamHead = { revision: NO_REVISION, metadata: null };

export type StreamHeadCache = LRUCache<string, StreamHead>;

const MAX_BYTES = 32 * 1024 * 1024;
const ENTRY_BYTES = 200;

/** A cache of the heads by stream name, of about 32 MiB at most. */
export const createStreamHeadCache = (): StreamHeadCache =>
  new LRUCache({
    maxSize: MAX_BYTES,
    sizeCalculation: (head, stream) => ENTRY_BYTES + stream.length * 2 + (head.metadata?.length ?? 0),
  });

const LAST_EVENTS = {
  name: 'stream-heads',
  text: `select s.name, e.revision, case when left(s.name, 2) = '$$' then e.data end as data
           from unnest($1::text[]) s(name)
           left join lateral (select revision, data from eventstore.event
                               where stream = s.name order by revision desc limit 1) e on true`,
};

/** Heads of streams by name, and the streams whose heads have to be loaded. */
export interface CachedHeads {
  readonly heads: Map<string, StreamHead>;
  readonly missing: readonly string[];
}

/** The heads of `streams` that are cached. */
export const cachedStreamHeads = (cache: StreamHeadCache, streams: Iterable<string>): CachedHeads => {
  const heads = new Map<string, StreamHead>();
  const missing: string[] = [];
  for (const stream of new Set(streams)) {
    const head = cache.get(stream);
    if (head) heads.set(stream, head);
    else missing.push(stream);
  }
  return { heads, missing };
};

/** The cached heads, and the missing streams as streams without events. */
export const withAbsent = ({ heads, missing }: CachedHeads): Map<string, StreamHead> =>
  new Map([...heads, ...missing.map((stream): [string, StreamHead] => [stream, ABSENT])]);

/** The cached heads and those of the missing streams, from the database. */
export const loadStreamHeads = async (
  client: ClientBase,
  { heads: cached, missing }: CachedHeads,
): Promise<Map<string, StreamHead>> => {
  const heads = new Map(cached);
  if (missing.length === 0) return heads;
  const { rows } = await client.query<{ name: string; revision: string | null; data: Buffer | null }>({
    ...LAST_EVENTS,
    values: [missing],
  });
  for (const { name, revision, data } of rows) {
    heads.set(name, {
      revision: revision === null ? NO_REVISION : BigInt(revision),
      metadata: isMetastream(name) ? data : null,
    });
  }
  return heads;
};
