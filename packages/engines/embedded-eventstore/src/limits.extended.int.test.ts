import { once } from 'node:events';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import { testDatabase } from '@cpg/platform/postgres/testing';
import {
  binaryEvent,
  type EventStoreDBClient,
  jsonEvent,
  streamNameFilter,
  UnavailableError,
} from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import pg from 'pg';
import { startEventStore } from './index.ts';
import { Reader } from './storage/reader.ts';
import { identifierOf, streamsClient } from './testing/jest-grpc.ts';
import {
  collect,
  connect,
  counted,
  inDatabase,
  newStream,
  numbersIn,
  range,
  type TestDatabase,
} from './testing/jest-store.ts';

const MIB = 1024 * 1024;
const MAX_PENDING_BYTES = 10 * MIB;

let database: TestDatabase;
let server: Awaited<ReturnType<typeof startEventStore>>;
let client: EventStoreDBClient;
beforeAll(async () => {
  database = await testDatabase();
  server = await startEventStore({ databaseUrl: database.url, port: 0, maxPendingBytes: MAX_PENDING_BYTES });
  client = connect(server.url);
});
afterAll(async () => {
  await client.dispose();
  await server.stop();
  await database.drop();
});

const large = () => binaryEvent({ type: 'Large', data: new Uint8Array(MIB - 1_000) });

/** Runs `work` while nothing can be committed. */
const whileBlocked = async (work: () => Promise<void>): Promise<void> => {
  const session = new pg.Client({ connectionString: database.url });
  await session.connect();
  await session.query('begin; lock table eventstore.event in exclusive mode');
  await work();
  await session.end();
};

const writerSessions = () =>
  inDatabase(
    database.url,
    `select pid from pg_stat_activity
      where application_name = 'embedded-eventstore writer' and datname = current_database()`,
  );

describe('an append whose data PostgreSQL refuses', () => {
  test.each([
    ['22', 'data exceptions', '22003'],
    ['23', 'integrity constraint violations', '23514'],
    ['54', 'program limits', '54000'],
  ])('is refused alone, and the session stays: class %s, %s', async (_, __, code) => {
    await inDatabase(
      database.url,
      `create or replace function refuse() returns trigger language plpgsql as
         $$ begin raise exception 'not this one' using errcode = '${code}'; end $$;
       create or replace trigger refuse before insert on eventstore.event for each row
         when (new.type = 'Poison') execute function refuse()`,
    );
    const before = await writerSessions();
    const stream = newStream();
    const poison = jsonEvent({ type: 'Poison', data: {} });
    const outcomes = await Promise.allSettled(
      range(0, 10).map((n) => client.appendToStream(`${stream}-${n}`, n === 5 ? poison : counted(n))),
    );
    expect(outcomes.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([5]);
    await client.appendToStream(`${stream}-5`, counted(5), { expectedRevision: 'no_stream' });
    for (const n of range(0, 10)) expect(await numbersIn(client, `${stream}-${n}`)).toEqual([n]);
    expect(await writerSessions()).toEqual(before);
  });
});

describe('appends that wait for their commit', () => {
  test('of one batch call are read only up to a limit of bytes, and all are written', async () => {
    const stream = newStream();
    const appends: Promise<unknown>[] = [];
    await whileBlocked(async () => {
      for (const _ of range(0, 24)) appends.push(client.appendToStream(stream, large()));
      await Promise.race([Promise.all(appends), inDatabase(database.url, 'select pg_sleep(0.3)')]);
    });
    await Promise.all(appends);
    expect(await collect(client.readStream(stream))).toHaveLength(24);
  });

  test('of all clients are refused above a limit of bytes, and taken again below it', async () => {
    const stream = newStream();
    const credentials = { username: 'admin', password: 'changeit' }; // one call per append
    const append = () => client.appendToStream(stream, large(), { credentials });
    let refused = 0;
    const appends: Promise<unknown>[] = [];
    await whileBlocked(async () => {
      await new Promise<void>((resolve) => {
        for (const _ of range(0, 14)) {
          const attempt = append().catch((error: unknown) => {
            expect(error).toBeInstanceOf(UnavailableError);
            if (++refused === 4) resolve();
          });
          appends.push(attempt);
        }
      });
    });
    await Promise.all(appends);
    expect(refused).toBe(4);
    await append();
    expect(await collect(client.readStream(stream))).toHaveLength(11);
  });

  test('end their call if none of them is complete', async () => {
    const streams = streamsClient(server.url);
    const call = streams.batchAppend();
    const failed = once(call, 'error');
    for (const n of range(0, 9)) call.write(incompleteAppend(n));
    expect(await failed).toMatchObject([{ code: status.UNAVAILABLE }]);
    streams.close();
  });
});

const incompleteAppend = (n: number) => {
  const message = new streamsPb.BatchAppendReq.ProposedMessage();
  const id = new sharedPb.UUID();
  id.setString(`7a8b0d1c-2f44-4a6e-9df1-0c9a51f4b00${n}`);
  message.setId(id);
  message.getMetadataMap().set('type', 'Large').set('content-type', 'application/octet-stream');
  message.setData(new Uint8Array(MIB - 1_000));
  const options = new streamsPb.BatchAppendReq.Options();
  options.setStreamIdentifier(identifierOf('incomplete'));
  options.setAny(new emptyPb.Empty());
  const request = new streamsPb.BatchAppendReq();
  request.setCorrelationId(id);
  request.setOptions(options);
  request.addProposedMessages(message);
  return request;
};

describe('a filter', () => {
  test('of exponential time in JavaScript does not block the store', async () => {
    await client.appendToStream(`${'a'.repeat(500)}!`, counted(1));
    const filter = streamNameFilter({ regex: '^(a+)+$' });
    const ended = collect(
      client.subscribeToAll({ filter }).on('caughtUp', function (this: { unsubscribe(): void }) {
        this.unsubscribe();
      }),
    );
    expect(await ended).toEqual([]);
  });

  test('that is not an expression of RE2 is refused with the reason', async () => {
    const subscription = client.subscribeToAll({ filter: streamNameFilter({ regex: '^(?!order)' }) });
    await expect(collect(subscription)).rejects.toThrow(/not a regular expression of RE2/);
  });
});

test('a read that PostgreSQL does not answer ends with UNAVAILABLE, and the next one gets a new connection', async () => {
  const reader = new Reader({ databaseUrl: database.url, now: Date.now, log: () => {}, queryTimeoutMs: 2_000 });
  await client.appendToStream(newStream(), counted(1));
  const before = await reader.allForwards(0n);
  expect(before).not.toEqual([]);
  const [frozen] = await inDatabase<{ pid: number }>(
    database.url,
    `select pid from pg_stat_activity where application_name = 'embedded-eventstore reader'
        and datname = current_database() order by backend_start desc limit 1`,
  );
  process.kill(frozen!.pid, 'SIGSTOP');
  try {
    await expect(reader.allForwards(0n)).rejects.toMatchObject({ refusal: { kind: 'unavailable' } });
    expect(await reader.allForwards(0n)).toEqual(before);
  } finally {
    process.kill(frozen!.pid, 'SIGCONT');
  }
  await reader.close();
});
