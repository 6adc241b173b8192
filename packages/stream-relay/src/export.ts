import type { HistoryEntry } from '@cpg/contracts';
import { AnyEvent, eventsOf, readLog } from '@cpg/event-store';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { entryOf } from './entry.ts';

export interface ExportOptions {
  readonly client: EventStoreDBClient;
  readonly prefixes: readonly string[];
  /** Resolves once there is room for the next. */
  readonly write: (entry: HistoryEntry) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Writes all that is recorded, stream after stream by when they begin; nothing of those that are deleted. */
export const exportHistory = async ({ client, prefixes, write, signal }: ExportOptions): Promise<void> => {
  await readLog(client, {
    from: null,
    prefixes,
    signal,
    handle: async (events) => {
      const begun = events.filter(({ event }) => event!.revision === 0n).map(({ event }) => event!.streamId);
      for (const stream of begun) {
        for await (const recorded of eventsOf(client, stream, AnyEvent)) {
          signal.throwIfAborted();
          await write(entryOf(recorded));
        }
      }
    },
  });
};
