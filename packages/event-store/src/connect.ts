import { EventStoreDBClient } from '@eventstore/db-client';

/** A client of the event store at an `esdb://` address. Connects when it is first used, and again whenever it must. */
export const connectEventStore = (url: string): EventStoreDBClient => EventStoreDBClient.connectionString(url);
