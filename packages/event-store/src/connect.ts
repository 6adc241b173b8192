import { EventStoreDBClient } from '@eventstore/db-client';

/** Rejects while the event store does not answer: for readiness. */
export const checkEventStore = async (client: EventStoreDBClient): Promise<void> => {
  for await (const _ of client.readAll({ maxCount: 1 }));
};

/** A client of the event store at an `esdb://` address. Connects when it is first used, and again whenever it must. */
export const connectEventStore = (url: string): EventStoreDBClient => EventStoreDBClient.connectionString(url);
