import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { type Kafka, startKafka } from './index.ts';
import { until } from './testing/cluster.ts';
import { RawClient } from './testing/raw-client.ts';

const MAX_PARTIAL_BYTES = 1_000_000;

let database: Awaited<ReturnType<typeof testDatabase>>;
let kafka: Kafka;
let lines: string[];
beforeEach(async () => {
  database = await testDatabase();
  lines = [];
  kafka = await startKafka({
    databaseUrl: database.url,
    port: 0,
    maxPartialRequestBytes: MAX_PARTIAL_BYTES,
    log: (line) => lines.push(line),
  });
});
afterEach(async () => {
  await kafka.stop();
  await database.drop();
});

const connected = async (): Promise<Socket> => {
  const socket = connect(kafka.port, '127.0.0.1');
  socket.on('error', () => {}); // the event "close" follows
  await once(socket, 'connect');
  return socket;
};

/** The broker may reset a connection: `events.once` would reject then. */
const closed = (socket: Socket): Promise<void> => new Promise((done) => socket.once('close', () => done()));

const BAD_LENGTH = Buffer.from([0xff, 0xff, 0xff, 0xff]);

test('a connection with invalid requests is logged once, with its address', async () => {
  const socket = await connected();
  const address = `127.0.0.1:${socket.localPort}`;
  socket.write(Buffer.concat([BAD_LENGTH, BAD_LENGTH, BAD_LENGTH]));
  await closed(socket);
  expect(lines).toEqual([expect.stringContaining(`closed the connection of ${address}: a request has -1 bytes`)]);
});

test('connections with invalid requests are logged ten times a minute at most', async () => {
  for (let n = 0; n < 15; n += 1) {
    const socket = await connected();
    socket.write(BAD_LENGTH);
    await closed(socket);
  }
  expect(lines).toHaveLength(10);
});

/** Sends the first `bytes` bytes of a request that has ten times as many. */
const sendPart = async (bytes: number): Promise<Socket> => {
  const socket = await connected();
  const part = Buffer.alloc(bytes);
  part.writeInt32BE(10 * bytes);
  await new Promise((done) => socket.write(part, done));
  return socket;
};

test('requests that arrive in part share one memory limit, and the largest of them is closed', async () => {
  const large = await sendPart(0.7 * MAX_PARTIAL_BYTES);
  const small = await sendPart(0.2 * MAX_PARTIAL_BYTES);
  const ordinary = await RawClient.connect(kafka.brokers);
  const last = await sendPart(0.2 * MAX_PARTIAL_BYTES);
  await closed(large);
  await until(() => lines.length === 1);
  expect(lines[0]).toMatch(/arrived in part take more than 1000000 bytes/);
  expect([small.destroyed, last.destroyed]).toEqual([false, false]);
  expect((await ordinary.request(18, 0, () => {})).int16()).toBe(0);
  ordinary.close();
  for (const socket of [small, last]) socket.destroy();
});

test('memory of closed connections and complete requests is free again', async () => {
  for (let n = 0; n < 5; n += 1) {
    const socket = await sendPart(0.6 * MAX_PARTIAL_BYTES);
    // The broker answers the end of a connection after it has released its memory.
    socket.resume().end();
    await closed(socket);
  }
  for (let n = 0; n < 5; n += 1) {
    const client = await RawClient.connect(kafka.brokers);
    const metadata = await client.request(3, 1, (body) => body.array(['x'.repeat(30_000)], body.string));
    expect(metadata.remaining).toBeGreaterThan(0);
    client.close();
  }
  const socket = await sendPart(0.9 * MAX_PARTIAL_BYTES);
  expect(lines).toEqual([]);
  socket.destroy();
});
