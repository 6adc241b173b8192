import { type FencedWriter, WriterUnavailable } from '@cpg/embedded-postgres';
import type { ClientBase } from 'pg';
import { metastreamOf, type RecordedEvent } from '../events.ts';
import {
  findStreamsToPrune,
  type HiddenEvents,
  hiddenEvents,
  prunedUpTo,
  removeEvents,
  setPrunedUpTo,
  streamsToPrune,
} from './removal.ts';
import { cachedStreamHeads, loadStreamHeads, type StreamHeadCache } from './stream-heads.ts';

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
