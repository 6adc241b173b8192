import { setTimeout as sleep } from 'node:timers/promises';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { DeadlineExceededError, type EventStoreDBClient, StreamNotFoundError } from '@eventstore/db-client';
import { startEventStore } from './index.ts';
import { type AppendFault, withFaults } from './testing/append-faults.ts';
import { connect, counted, newStream, numbersIn, range, type TestDatabase } from './testing/jest-store.ts';

let database: TestDatabase;
let server: Awaited<ReturnType<typeof startEventStore>>;
let client: EventStoreDBClient;
let fault: AppendFault | null = null;
beforeAll(async () => {
  database = await testDatabase();
  server = await startEventStore({ databaseUrl: database.url, port: 0, wrapWriter: withFaults(() => fault) });
  client = connect(server.url);
});
afterEach(() => (fault = null));
afterAll(async () => {
  await client.dispose();
  await server.stop();
  await database.drop();
});

test('answers concurrent repeats of one append, some of which EventStoreDB lets time out', async () => {
  const [stream, events] = [newStream(), counted(1)];
  const append = () => client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
  const answers = await Promise.all(range(0, 10).map(append));
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});

const batch = {};
const single = { credentials: { username: 'admin', password: 'changeit' } };

describe('an append that fails on purpose', () => {
  const appendWith = (failing: AppendFault, stream: string, options: object) => {
    fault = failing;
    return client.appendToStream(stream, counted(1), { expectedRevision: 'no_stream', ...options });
  };

  test.each([
    ['batch append', batch, DeadlineExceededError],
    ['append', single, '10 ABORTED: Operation timed out: Commit phase timeout.'],
  ])('is answered as timed out, but is written: %s', async (_, options, error) => {
    const stream = newStream();
    await expect(appendWith('commit-timeout', stream, options)).rejects.toThrow(error);
    expect(await numbersIn(client, stream)).toEqual([1]);
  });

  test.each([
    ['batch append', batch, 'Could not recognize Server Is Not Ready'],
    ['append', single, 'Server Is Not Ready'],
  ])('is refused and not written: %s', async (_, options, error) => {
    const stream = newStream();
    await expect(appendWith('not-ready', stream, options)).rejects.toThrow(error);
    await expect(numbersIn(client, stream)).rejects.toBeInstanceOf(StreamNotFoundError);
  });

  test('is written and never answered by a batch append, not even after its deadline', async () => {
    const stream = newStream();
    const answer = appendWith('unanswered', stream, { deadline: 100 });
    const outcome = await Promise.race([answer.catch(() => {}).then(() => 'answered'), sleep(600, 'no answer')]);
    expect(outcome).toBe('no answer');
    expect(await numbersIn(client, stream)).toEqual([1]);
  });

  test('is written and left to the deadline of an append', async () => {
    const stream = newStream();
    await expect(appendWith('unanswered', stream, { ...single, deadline: 500 })).rejects.toBeInstanceOf(
      DeadlineExceededError,
    );
    expect(await numbersIn(client, stream)).toEqual([1]);
  });

  test('is recognised when it is repeated', async () => {
    const [stream, events] = [newStream(), counted(1)];
    fault = 'commit-timeout';
    const append = () => client.appendToStream(stream, events, { expectedRevision: 'no_stream' });
    await expect(append()).rejects.toThrow();
    fault = null;
    expect(await append()).toMatchObject({ nextExpectedRevision: 0n });
    expect(await numbersIn(client, stream)).toEqual([1]);
  });
});
