import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { firstAttempts, type Recorded } from '../testing/jest-first-attempts.ts';

const { deliver, closeAfter } = firstAttempts();

/** A TCP server. `serve` gets each connection when a request starts on it. */
const listen = async (serve: (socket: Socket) => void): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => serve(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  };
  closeAfter({ close });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};
/** Writes `piece` every few milliseconds until the connection closes. */
const trickle = (socket: Socket, piece: string) => {
  const timer = setInterval(() => socket.write(piece), 10);
  socket.once('close', () => clearInterval(timer));
};
/** Writes `piece` as fast as the connection takes it. */
const flood = (socket: Socket, piece: string) => {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
};

const OK = 'HTTP/1.1 200 OK\r\n';

const CASES: [string, (socket: Socket) => unknown, Partial<Recorded> & { error?: unknown }][] = [
  ['never answers', () => {}, { outcome: 'timed_out', status_code: null }],
  [
    'answers byte by byte',
    (socket) => {
      socket.write(`${OK}x-slow: `);
      trickle(socket, '.');
    },
    { outcome: 'timed_out', status_code: null },
  ],
  [
    'sends its body byte by byte',
    (socket) => {
      socket.write(`${OK}content-length: 100000\r\n\r\n`);
      trickle(socket, '.');
    },
    { outcome: 'timed_out', status_code: 200 },
  ],
  [
    'sends endless headers',
    (socket) => {
      socket.write(OK);
      flood(socket, `x-more: ${'x'.repeat(1_000)}\r\n`);
    },
    { outcome: 'unreachable', status_code: null, error: expect.stringMatching(/HEADERS_OVERFLOW/) },
  ],
  ['closes the connection without an answer', (socket) => socket.end(), { outcome: 'unreachable', status_code: null }],
  [
    'closes the connection within its headers',
    (socket) => socket.end(`${OK}x-half`),
    { outcome: 'unreachable', status_code: null },
  ],
  [
    'closes the connection within its body',
    (socket) => socket.end(`${OK}content-length: 9\r\n\r\nhalf`),
    { outcome: 'unreachable', status_code: 200 },
  ],
  ['resets the connection', (socket) => socket.resetAndDestroy(), { outcome: 'unreachable', status_code: null }],
  [
    'speaks another protocol',
    (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
    { outcome: 'unreachable', status_code: null },
  ],
  [
    'sends informational responses only',
    (socket) => {
      socket.write('HTTP/1.1 102 Processing\r\n\r\n');
      trickle(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n');
    },
    { outcome: 'timed_out', status_code: null },
  ],
  [
    'asks for a protocol upgrade',
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
    { outcome: 'unreachable', status_code: null },
  ],
];
test.each(CASES)('an endpoint that %s has failed, and is retried', async (_, serve, expected) => {
  const url = await listen((socket) => void serve(socket));
  const options = expected.outcome === 'timed_out' ? { attemptWithinMs: 1_000 } : {};
  expect(await deliver(url, options)).toMatchObject({
    status: 'pending',
    next_attempt_at: expect.any(Date),
    error: expect.any(String),
    ...expected,
  });
});

test('an endpoint that sends 103 before 204 has received the event', async () => {
  const url = await listen((socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'));
  expect(await deliver(url)).toMatchObject({ status: 'delivered', outcome: 'delivered', status_code: 204 });
});

test('the status of an endpoint that sends an endless body decides', async () => {
  const url = await listen((socket) => {
    socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
    flood(socket, `400\r\n${'x'.repeat(1_024)}\r\n`);
  });
  expect(await deliver(url)).toMatchObject({ status: 'delivered', outcome: 'delivered', status_code: 200 });
});
