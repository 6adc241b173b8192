import type { ClientBase } from 'pg';
import { isMetastream, NO_REVISION } from '../events.ts';

/** Where a stream ends. */
export interface Head {
  /** Last revision; NO_REVISION without events, TOMBSTONE when closed for good. */
  readonly revision: bigint;
  /** Data of the last event, of metastreams only: the current metadata of the original stream. */
  readonly metadata: Buffer | null;
}

const MAX_BYTES = 32 * 1024 * 1024;
const ENTRY_BYTES = 200;

/** Heads of the streams written to last, the least recently written leaving first. Holds at most MAX_BYTES. */
export class HeadCache {
  readonly #heads = new Map<string, Head>();
  #bytes = 0;

  get(stream: string): Head | undefined {
    return this.#heads.get(stream);
  }

  put(stream: string, head: Head): void {
    this.#remove(stream);
    this.#heads.set(stream, head);
    this.#bytes += bytesOf(stream, head);
    for (const oldest of this.#heads.keys()) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#remove(oldest);
    }
  }

  clear(): void {
    this.#heads.clear();
    this.#bytes = 0;
  }

  #remove(stream: string): void {
    const head = this.#heads.get(stream);
    if (!head) return;
    this.#heads.delete(stream);
    this.#bytes -= bytesOf(stream, head);
  }
}

const bytesOf = (stream: string, head: Head): number => ENTRY_BYTES + stream.length * 2 + (head.metadata?.length ?? 0);

const LAST_EVENTS = {
  name: 'heads',
  text: `select s.name, e.revision, case when left(s.name, 2) = '$$' then e.data end as data
           from unnest($1::text[]) s(name)
           left join lateral (select revision, data from eventstore.event
                               where stream = s.name order by revision desc limit 1) e on true`,
};

/** Heads of `streams` from the cache, and from the database what the cache does not have. */
export const loadHeads = async (
  client: ClientBase,
  cache: HeadCache,
  streams: Iterable<string>,
): Promise<Map<string, Head>> => {
  const heads = new Map<string, Head>();
  const missing: string[] = [];
  for (const stream of new Set(streams)) {
    const head = cache.get(stream);
    if (head) heads.set(stream, head);
    else missing.push(stream);
  }
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
