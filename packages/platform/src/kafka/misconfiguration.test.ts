import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServiceLog } from '../outages/outages.ts';
import { createKafka, KAFKA, kafkaDependency } from './client.ts';

const API_VERSIONS = 18;
const SASL_HANDSHAKE = 17;
const SASL_AUTHENTICATE = 36;

const int16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number) => Buffer.concat([int16(value >> 16), int16(value & 65_535)]);
const text = (value: string) => Buffer.concat([int16(value.length), Buffer.from(value)]);

const VERSIONS = [API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE].flatMap((key) => {
  const newest = key === SASL_HANDSHAKE ? 1 : 0;
  return [int16(key), int16(0), int16(newest)];
});
const handshake = (error: number) => Buffer.concat([int16(error), int32(1), text('PLAIN')]);
const ACCEPTED = handshake(0);
const WRONG_PASSWORD = Buffer.concat([
  int16(58),
  text('Authentication failed: Invalid username or password'),
  int32(0),
]);
const HANG_UP = null;

/** Answers as a broker until the client is authenticated. */
const startBroker = async (handshaken: Buffer, authenticated: Buffer | null) => {
  const answers = new Map([
    [API_VERSIONS, Buffer.concat([int16(0), int32(3), ...VERSIONS, int32(0)])],
    [SASL_HANDSHAKE, handshaken],
    [SASL_AUTHENTICATE, authenticated],
  ]);
  const serve = (socket: Socket) =>
    socket
      .on('error', () => {})
      .on('data', (request: Buffer) => {
        const body = answers.get(request.readInt16BE(4));
        if (body) socket.write(Buffer.concat([int32(4 + body.length), request.subarray(8, 12), body]));
        else socket.destroy();
      });
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { broker: `127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
};

const ask = async (broker: string) => {
  const lines: { level: string; msg: string; reason?: string }[] = [];
  const { log, outages } = createServiceLog({
    name: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  });
  const user = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'pay', KAFKA_SASL_PASSWORD: 'secret' } as const;
  const kafka = createKafka({ KAFKA_BROKERS: [broker], ...user }, { clientId: 'test', log });
  const check = outages.watch(KAFKA, kafkaDependency(kafka));
  const failures = [await check().catch(String), await check().catch(String)];
  const producer = kafka.producer({ retry: { retries: 0 } });
  const error = await producer.connect().catch((failed: unknown) => failed);
  const isOutage = outages.refused(error);
  await producer.disconnect();
  outages.stop();
  return { lines: lines.map(({ level, msg, reason }) => ({ level, msg, reason })), failures, isOutage };
};

test.each([
  [
    'a wrong password',
    ACCEPTED,
    WRONG_PASSWORD,
    /^Kafka refuses the user or its password: correct KAFKA_SASL_USERNAME/,
  ],
  ['a refused mechanism', handshake(33), HANG_UP, /^Kafka refuses the mechanism in KAFKA_SASL_MECHANISM: set one/],
  ['a listener without SASL', handshake(34), HANG_UP, /^the listener in KAFKA_BROKERS has no SASL: use the address/],
])('%s is logged once, with how to correct it', async (_, handshaken, authenticated, sentence) => {
  const { broker, stop } = await startBroker(handshaken, authenticated);
  const { lines, failures, isOutage } = await ask(broker);
  stop();
  expect(isOutage).toBe(true);
  expect(failures[1]).toMatch(new RegExp(sentence.source.replace('^', 'ConfigError: ')));
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    'warn outage began',
    'error dependency is misconfigured',
  ]);
  expect(lines[1]!.reason).toMatch(sentence);
  expect(lines[1]!.reason).not.toMatch(/secret|pay/);
});

test('a broker that ends during an authentication is unavailable, and needs no correction', async () => {
  const { broker, stop } = await startBroker(ACCEPTED, HANG_UP);
  const { lines, isOutage } = await ask(broker);
  stop();
  expect(isOutage).toBe(true);
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual(['warn outage began']);
});
