import { EventStoreDBClient } from '@eventstore/db-client';
import { withReadTimeout } from './read-timeout.ts';

const ANSWERS_WITHIN_MS = 1_500;

/** Rejects while the event store does not answer: for readiness. */
export const checkEventStore = async (client: EventStoreDBClient): Promise<void> => {
  const reading = client.readAll({ maxCount: 1 });
  const read = async () => {
    for await (const _ of reading);
  };
  await withReadTimeout(ANSWERS_WITHIN_MS, reading, read());
};

/** A client of the event store at an `esdb://` address. Connects when it is first used, and again whenever it must. */
export const connectEventStore = (url: string): EventStoreDBClient => EventStoreDBClient.connectionString(url);
