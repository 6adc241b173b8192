import { withTimeout } from '@cpg/runtime';
import { EventStoreDBClient, jsonEvent, WrongExpectedVersionError } from '@eventstore/db-client';
import { withReadTimeout } from './read-timeout.ts';

const CHECK_TIMEOUT_MS = 1_500;

/** A stream that is never written. */
const NEVER_WRITTEN = 'readiness-check';

/** Readiness check: rejects while the event store cannot be read or cannot be written. It writes nothing. */
export const checkEventStore = async (client: EventStoreDBClient): Promise<void> => {
  await Promise.all([checkRead(client), checkAppend(client)]);
};

const checkRead = async (client: EventStoreDBClient): Promise<void> => {
  const reading = client.readAll({ maxCount: 1 });
  const read = async () => {
    for await (const _ of reading);
  };
  await withReadTimeout(CHECK_TIMEOUT_MS, reading, read());
};

/** Sends an append that the writer refuses, so that it goes the way of every append: through discovery, the features of
 *  the server, and the leader. */
const checkAppend = async (client: EventStoreDBClient): Promise<void> => {
  const options = { expectedRevision: 'stream_exists' as const };
  const refused = client.appendToStream(NEVER_WRITTEN, jsonEvent({ type: 'Checked', data: {} }), options);
  try {
    await withTimeout(CHECK_TIMEOUT_MS, refused);
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error;
  }
};

/** Creates a client of the event store at an `esdb://` address. It connects at the first use and reconnects by
 *  itself. */
export const connectEventStore = (url: string): EventStoreDBClient => EventStoreDBClient.connectionString(url);
