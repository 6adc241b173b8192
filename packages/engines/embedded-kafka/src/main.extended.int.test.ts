import { createServer } from 'node:net';
import { once } from 'node:events';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { freePort } from '@cpg/ports';
import { batchOf, sendBatch } from './testing/batches.ts';
import { clientOf, newTopic, readValues, until } from './testing/cluster.ts';
import { type Program, buildMain, run } from './testing/process.ts';
import { RawClient } from './testing/raw-client.ts';

let built: Awaited<ReturnType<typeof buildMain>>;
let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  [built, database] = await Promise.all([buildMain(), testDatabase()]);
});
afterAll(async () => {
  await built.remove();
  await database.drop();
});

const start = async (port: number): Promise<Program> => {
  const program = run(built.main, { KAFKA_DATABASE_URL: database.url, KAFKA_PORT: String(port) });
  await until(() => program.output().includes(`ready on 127.0.0.1:${port}`));
  return program;
};

test('a killed broker has stored everything that it acknowledged, once', async () => {
  const port = await freePort();
  const brokers = `127.0.0.1:${port}`;
  let program = await start(port);
  const admin = clientOf(brokers).admin();
  await admin.connect();
  const topic = await newTopic(admin);
  await admin.disconnect();
  const batch = (sequence: number) => batchOf([`m${sequence}`], { producerId: 1, epoch: 0, sequence });
  for (let round = 0; round < 3; round += 1) {
    const client = await RawClient.connect(brokers);
    // The broker is killed after one acknowledgement, with nine requests in flight.
    expect(await sendBatch(client, topic, batch(10 * round))).toMatchObject({ error: 0 });
    for (let n = 1; n < 10; n += 1) void sendBatch(client, topic, batch(10 * round + n));
    program.process.kill('SIGKILL');
    expect(await program.ended).toBe('SIGKILL');
    program = await start(port);
    const again = await RawClient.connect(brokers);
    for (let n = 0; n < 10; n += 1) {
      const sent = await sendBatch(again, topic, batch(10 * round + n));
      // Whether a batch is stored now or was before, its offset is the same. Older duplicates than five batches are
      // refused.
      if (sent.error === 0) expect(sent.baseOffset).toBe(10 * round + n);
      else expect(sent.error).toBe(45);
    }
    again.close();
  }
  const expected = Array.from({ length: 30 }, (_, n) => `m${n}`);
  expect(await readValues(clientOf(brokers), topic, 30)).toEqual(expected);
  program.process.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});

test('the broker stops cleanly while clients are waiting for a response', async () => {
  const port = await freePort();
  const program = await start(port);
  const client = await RawClient.connect(`127.0.0.1:${port}`);
  client.send(1, 4, (body) =>
    body
      .int32(-1)
      .int32(30_000)
      .int32(1)
      .int32(1)
      .int8(0)
      .array([], () => {}),
  );
  program.process.kill('SIGINT');
  expect(await program.ended).toBe(0);
  await client.closed;
});

test('a taken port is reported in one sentence that names the variable', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  const program = run(built.main, { KAFKA_DATABASE_URL: database.url, KAFKA_PORT: String(port) });
  expect(await program.ended).toBe(1);
  expect(program.output()).toBe(
    `kafka: port ${port} for Kafka is taken: set KAFKA_PORT (or PORT_OFFSET) to a free one\n`,
  );
  taken.close();
});

test.each([
  ['without a database', {}, /set KAFKA_DATABASE_URL/],
  [
    'with an invalid port',
    { KAFKA_DATABASE_URL: 'postgres://localhost/x', KAFKA_PORT: 'http' },
    /KAFKA_PORT must be a port/,
  ],
])('%s the program fails and names the variable', async (_, env, sentence) => {
  const program = run(built.main, env);
  expect(await program.ended).toBe(1);
  expect(program.output()).toMatch(sentence);
});

test.each(['0.0.0.0', '::'])('on all addresses (%s) the program asks for the address to advertise', async (host) => {
  const env = { KAFKA_DATABASE_URL: database.url, KAFKA_PORT: '0', KAFKA_HOST: host };
  const program = run(built.main, env);
  expect(await program.ended).toBe(1);
  expect(program.output()).toBe(
    `kafka: set KAFKA_ADVERTISED_HOST to the address that clients use: they cannot connect to ${host}\n`,
  );
});

test('clients connect to the advertised host', async () => {
  const port = await freePort();
  const program = run(built.main, {
    KAFKA_DATABASE_URL: database.url,
    KAFKA_PORT: String(port),
    KAFKA_HOST: '0.0.0.0',
    // Part of 0.0.0.0 on every machine: `localhost` may be ::1 alone.
    KAFKA_ADVERTISED_HOST: '127.0.0.1',
  });
  await until(() => program.output().includes(`ready on 127.0.0.1:${port}`));
  const admin = clientOf(`127.0.0.1:${port}`).admin();
  await admin.connect();
  expect((await admin.describeCluster()).brokers).toEqual([{ nodeId: 1, host: '127.0.0.1', port }]);
  await admin.disconnect();
  program.process.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});

test('a broker that waits for its database stops when asked to', async () => {
  const program = run(built.main, {
    KAFKA_DATABASE_URL: `postgres://127.0.0.1:${await freePort()}/x`,
    KAFKA_PORT: '0',
  });
  await until(() => program.output().includes('waiting for the database'));
  program.process.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});
