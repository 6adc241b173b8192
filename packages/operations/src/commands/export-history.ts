import type { RecordedEntry } from '@cpg/contracts';
import { AnyEvent, eventsOf, historyEntry, readLog } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';

export interface ExportOptions {
  readonly client: EventStoreDBClient;
  readonly prefixes: readonly string[];
  /** Resolves when it can accept the next entry (backpressure). */
  readonly write: (entry: RecordedEntry) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Writes every recorded event, one stream after another in order of their first events. Skips deleted streams. */
export const exportHistory = async ({ client, prefixes, write, signal }: ExportOptions): Promise<void> => {
  await readLog(client, {
    from: null,
    prefixes,
    signal,
    handle: async (events) => {
      const started = events.filter(({ event }) => event!.revision === 0n).map(({ event }) => event!.streamId);
      for (const stream of started) {
        for await (const recorded of eventsOf(client, stream, AnyEvent)) {
          signal.throwIfAborted();
          await write(historyEntry(recorded));
        }
      }
    },
  });
};
