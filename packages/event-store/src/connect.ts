import { EventStoreDBClient } from '@eventstore/db-client';
import { withReadTimeout } from './read-timeout.ts';

const CHECK_TIMEOUT_MS = 1_500;

/** Readiness check: rejects while the event store does not answer. */
export const checkEventStore = async (client: EventStoreDBClient): Promise<void> => {
  const reading = client.readAll({ maxCount: 1 });
  const read = async () => {
    for await (const _ of reading);
  };
  await withReadTimeout(CHECK_TIMEOUT_MS, reading, read());
};

/** Creates a client of the event store at an `esdb://` address. It connects at the first use and reconnects by
 *  itself. */
export const connectEventStore = (url: string): EventStoreDBClient => EventStoreDBClient.connectionString(url);
