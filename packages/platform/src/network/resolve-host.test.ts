import { pbkdf2 } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { createHostResolver } from './resolve-host.ts';

const A = 1;
const AAAA = 28;
const NOT_FOUND = 3;
const SERVER_FAILED = 2;

/** The name in a DNS query and the end of its question. */
const questionOf = (query: Buffer): { name: string; type: number; end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
};

const answerTo = (query: Buffer, { code = 0, address }: { code?: number; address?: Buffer | undefined }): Buffer => {
  const { type, end } = questionOf(query);
  const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80 + code, 0, 1, 0, address ? 1 : 0, 0, 0, 0, 0]);
  const record = address
    ? Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length]), address])
    : Buffer.alloc(0);
  return Buffer.concat([header, query.subarray(12, end), record]);
};

let server: Socket;
let queries: number;
let servers: string[];

/** Answers by the name: `silent` never, `failing` with an error, `unknown` not at all, others with an address. */
beforeAll(async () => {
  server = createSocket('udp4').on('message', (query, { port, address }) => {
    queries += 1;
    const { name, type } = questionOf(query);
    const reply = (answer: Parameters<typeof answerTo>[1]) => server.send(answerTo(query, answer), port, address);
    if (name.startsWith('silent')) return;
    if (name.startsWith('failing')) return reply({ code: type === A ? SERVER_FAILED : NOT_FOUND });
    if (name.startsWith('unknown')) return reply({ code: NOT_FOUND });
    if (name.startsWith('nothing')) return reply({});
    const sixteen = Buffer.from('20010db8000000000000000000000001', 'hex');
    if (name.startsWith('both')) return reply({ address: type === AAAA ? sixteen : Buffer.from([203, 0, 113, 9]) });
    reply(type === A ? { address: Buffer.from([203, 0, 113, 7]) } : {});
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  servers = [`127.0.0.1:${server.address().port}`];
});
afterAll(() => void server.close());
beforeEach(() => {
  queries = 0;
});

const resolve = (host: string, timeoutMs = 2_000) => createHostResolver({ timeoutMs, servers })(host);

test('resolves a name to its addresses of both kinds', async () => {
  expect(await resolve('both.example')).toEqual(['203.0.113.9', '2001:db8::1']);
  expect(await resolve('shop.example')).toEqual(['203.0.113.7']);
});

test.each(['localhost', 'LOCALHOST.', 'shop.localhost'])('answers %s without a query', async (host) => {
  expect(await resolve(host)).toEqual(['127.0.0.1', '::1']);
  expect(queries).toBe(0);
});

test.each([
  ['unknown.example', 'ENOTFOUND'],
  ['nothing.example', 'ENODATA'],
  ['failing.example', 'ESERVFAIL'],
  [`${'x'.repeat(64)}.example`, 'EBADNAME'],
])('rejects %s with %s', async (host, code) => {
  await expect(resolve(host)).rejects.toMatchObject({ code });
});

test('ends in time when the servers are silent', async () => {
  const startedAt = performance.now();
  await expect(resolve('silent.example', 200)).rejects.toMatchObject({
    code: expect.stringMatching(/TIMEOUT|CANCELLED/),
  });
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

test('slow names delay neither other names nor the thread pool', async () => {
  const slow = Promise.allSettled(Array.from({ length: 50 }, (_, i) => resolve(`silent-${i}.example`, 1_000)));
  const first = await Promise.race([
    slow.then(() => 'slow names'),
    Promise.all([resolve('shop.example'), promisify(pbkdf2)('a', 'b', 1, 32, 'sha256')]).then(() => 'other work'),
  ]);
  expect(first).toBe('other work');
  expect((await slow).every(({ status }) => status === 'rejected')).toBe(true);
});
