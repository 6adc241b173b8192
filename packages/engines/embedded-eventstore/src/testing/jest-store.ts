import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { status } from '@grpc/grpc-js';
import {
  EventStoreDBClient,
  type EventType,
  jsonEvent,
  type ResolvedEvent,
  UnavailableError,
} from '@eventstore/db-client';
import pg from 'pg';
import { startEventStore } from '../index.ts';

export type TestDatabase = Awaited<ReturnType<typeof testDatabase>>;

/** Runs SQL in the database of `url` on a connection of its own. */
export const inDatabase = async <Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
};

/** Whether the space of all removed events is reclaimed, and some were removed. */
export const isReclaimed = async (url: string): Promise<boolean> => {
  const [row] = await inDatabase<{ done: boolean }>(
    url,
    'select removed > 0 and removed = reclaimed as done from eventstore.removal',
  );
  return row!.done;
};

export const until = async (condition: () => Promise<boolean>): Promise<void> => {
  while (!(await condition())) await sleep(10);
};

/** Runs SQL in the administration database of the test run. */
export const administer = (sql: string) => inDatabase(process.env.POSTGRES_URL!, sql);

export interface TestStore {
  readonly url: string;
  readonly client: EventStoreDBClient;
  /** A further client. An open client keeps the test run from ending, so all are closed after the tests of the file. */
  readonly connect: (url: string) => EventStoreDBClient;
}

/** A server and a client for the tests of one file, available from `beforeAll` on.
 *  The server is that of EVENTSTORE_URL, or else an embedded one with its own database. */
export const useStore = (): TestStore => {
  const clients: EventStoreDBClient[] = [];
  const open = (url: string) => {
    const client = connect(url);
    clients.push(client);
    return client;
  };
  let store: { url: string; client: EventStoreDBClient; stop: () => Promise<void> };
  beforeAll(async () => {
    const url = process.env.EVENTSTORE_URL;
    const { stop, ...server } = url ? { url, stop: async () => {} } : await startOwnStore();
    store = { ...server, client: open(server.url), stop };
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.dispose()));
    await store.stop();
  });
  return {
    get url() {
      return store.url;
    },
    get client() {
      return store.client;
    },
    connect: open,
  };
};

const startOwnStore = async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const stop = async () => {
    await server.stop();
    await database.drop();
  };
  return { url: server.url, stop };
};

export const connect = (url: string): EventStoreDBClient => EventStoreDBClient.connectionString(url);

/** A stream name that no other test uses. */
export const newStream = (category = 'test'): string => `${category}-${randomUUID()}`;

/** Events of type `Counted` with the given numbers. */
export const counted = (...numbers: number[]) => numbers.map((n) => jsonEvent({ type: 'Counted', data: { n } }));

export const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);

export const numberOf = (resolved: ResolvedEvent<EventType>): number => (resolved.event!.data as { n: number }).n;

export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** Reads until `done` returns true, then ends the subscription. */
export const collectUntil = async <T>(items: AsyncIterable<T>, done: (item: T, all: T[]) => boolean): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) {
    all.push(item);
    if (done(item, all)) break;
  }
  return all;
};

/** The first `count` numbers that the subscription receives. */
export const take = async (items: AsyncIterable<ResolvedEvent<EventType>>, count: number): Promise<number[]> =>
  (await collectUntil(items, (_, all) => all.length === count)).map(numberOf);

export const numbersIn = async (
  client: EventStoreDBClient,
  stream: string,
  options: Parameters<EventStoreDBClient['readStream']>[1] = {},
): Promise<number[]> => (await collect(client.readStream(stream, options))).map(numberOf);

/** Retries while the server is unavailable. The same event ids make the retry idempotent. */
export const retryUnavailable = async <T>(attempt: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await sleep(50);
    }
  }
};

// The client passes on the bare gRPC error when a call finds its channel closed.
const isUnavailable = (error: unknown): boolean =>
  error instanceof UnavailableError || (error as { code?: unknown }).code === status.UNAVAILABLE;
