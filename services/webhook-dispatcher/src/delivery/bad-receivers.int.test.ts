import { createAddressMatcher } from '@cpg/runtime';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { respond, startReceiver } from '../testing/jest-receiver.ts';
import { startTlsReceiver, TEST_AUTHORITY } from '../testing/jest-tls-receiver.ts';
import { createSender, type SenderOptions } from './send.ts';

let system: Dispatchers;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  system = await dispatchers();
});
afterEach(async () => {
  await system.close();
  await Promise.all(closing.splice(0).map((close) => close()));
});

interface Recorded {
  readonly status: string;
  readonly next_attempt_at: Date | null;
  readonly outcome: string;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly waited: number | null;
}

/** Delivers one event to `url`, with a retry planned 100 s later, and returns what is recorded once its first attempt has ended. */
const deliver = async (url: string, options: Partial<SenderOptions> = {}): Promise<Recorded> => {
  const now = () => new Date();
  const sender = createSender({ allowLocal: true, connections: 2, now, ...options });
  closing.push(sender.close);
  const { consume } = await system.start({ schedule: [100], sender });
  const { merchantId } = await system.webhook(url);
  await consume([message({ type: 'order.paid', merchantId })]);
  return system.eventually<Recorded>(
    `select d.status, d.next_attempt_at, a.outcome, a.status_code, a.error,
       extract(epoch from d.next_attempt_at - a.started_at)::float as waited
     from webhooks.deliveries d join webhooks.attempts a on a.delivery_id = d.id where d.attempts = 1`,
  );
};

/** A server that says what it likes: `serve` gets each connection once a request has begun on it. */
const listen = async (serve: (socket: Socket) => void): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => serve(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};
/** Writes a piece every few milliseconds, for ever. */
const trickle = (socket: Socket, piece: string) => {
  const timer = setInterval(() => socket.write(piece), 10);
  socket.once('close', () => clearInterval(timer));
};
const flood = (socket: Socket, piece: string) => {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
};

const OK = 'HTTP/1.1 200 OK\r\n';

describe('a receiver that', () => {
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
    ['closes without a word', (socket) => socket.end(), { outcome: 'unreachable', status_code: null }],
    ['closes within its headers', (socket) => socket.end(`${OK}x-half`), { outcome: 'unreachable', status_code: null }],
    [
      'closes within its body',
      (socket) => socket.end(`${OK}content-length: 9\r\n\r\nhalf`),
      { outcome: 'unreachable', status_code: 200 },
    ],
    ['resets the connection', (socket) => socket.resetAndDestroy(), { outcome: 'unreachable', status_code: null }],
    [
      'talks something else',
      (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
      { outcome: 'unreachable', status_code: null },
    ],
    [
      'only ever says that it is about to',
      (socket) => {
        socket.write('HTTP/1.1 102 Processing\r\n\r\n');
        trickle(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n');
      },
      { outcome: 'timed_out', status_code: null },
    ],
    [
      'wants to talk another protocol',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
      { outcome: 'unreachable', status_code: null },
    ],
  ];
  test.each(CASES)('%s has failed, and is tried again', async (_, serve, expected) => {
    const url = await listen((socket) => void serve(socket));
    const options = expected.outcome === 'timed_out' ? { attemptWithinMs: 1_000 } : {};
    expect(await deliver(url, options)).toMatchObject({
      status: 'pending',
      next_attempt_at: expect.any(Date),
      error: expect.any(String),
      ...expected,
    });
  });

  test('says 103 before it says 204 has acknowledged', async () => {
    const url = await listen((socket) =>
      socket.write('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    );
    expect(await deliver(url)).toMatchObject({ status: 'delivered', outcome: 'delivered', status_code: 204 });
  });

  test('sends an endless body has acknowledged by its status', async () => {
    const url = await listen((socket) => {
      socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
      flood(socket, `400\r\n${'x'.repeat(1_024)}\r\n`);
    });
    expect(await deliver(url)).toMatchObject({ status: 'delivered', outcome: 'delivered', status_code: 200 });
  });
});

describe('a receiver with a certificate that is', () => {
  const production = { allowLocal: false, isAllowed: createAddressMatcher(['127.0.0.1']), ca: TEST_AUTHORITY } as const;
  const resolve = async () => ['127.0.0.1'];

  test.each([
    ['expired', /CERT_HAS_EXPIRED|expired/],
    ['self-signed', /SELF_SIGNED|self-signed/],
  ] as const)('%s gets nothing', async (certificate, error) => {
    const receiver = await startTlsReceiver(certificate);
    closing.push(receiver.close);
    expect(await deliver(receiver.url, { ...production, resolve })).toMatchObject({
      status: 'pending',
      outcome: 'unreachable',
      status_code: null,
      error: expect.stringMatching(error) as string,
    });
    expect(receiver.received()).toBe(0);
  });

  test('good gets it', async () => {
    const receiver = await startTlsReceiver('good');
    closing.push(receiver.close);
    expect(await deliver(receiver.url, { ...production, resolve })).toMatchObject({ status: 'delivered' });
  });
});

describe('a receiver that answers', () => {
  const answering = async (status: number, headersNow: () => Record<string, string> = () => ({})) => {
    const receiver = await startReceiver();
    closing.push(receiver.close);
    receiver.answer = (...exchange) => respond(status, headersNow())(...exchange);
    return { receiver, recorded: await deliver(`${receiver.url}/hook`) };
  };

  test('204 has acknowledged', async () => {
    expect((await answering(204)).recorded).toMatchObject({
      status: 'delivered',
      outcome: 'delivered',
      status_code: 204,
    });
  });

  test.each([301, 302, 307, 308])('%i is not followed', async (status) => {
    const { receiver, recorded } = await answering(status, () => ({ location: '/elsewhere' }));
    expect(recorded).toMatchObject({ status: 'pending', outcome: 'refused', status_code: status });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });

  test('429 is tried again as planned', async () => {
    const { recorded } = await answering(429);
    expect(recorded).toMatchObject({ status: 'pending', outcome: 'refused', status_code: 429 });
    expect(recorded.waited).toBeGreaterThanOrEqual(100);
    expect(recorded.waited).toBeLessThan(140);
  });

  test.each([
    ['seconds', () => '150'],
    ['a date', () => new Date(Date.now() + 151_000).toUTCString()],
  ])('429 and asks for time in %s is given it', async (_, retryAfter) => {
    const { recorded } = await answering(429, () => ({ 'retry-after': retryAfter() }));
    expect(recorded).toMatchObject({ status: 'pending', outcome: 'refused', status_code: 429 });
    expect(recorded.waited).toBeGreaterThanOrEqual(149);
    expect(recorded.waited).toBeLessThan(190);
  });

  test('429 and asks for ever waits twice as long as planned', async () => {
    const { recorded } = await answering(429, () => ({ 'retry-after': '86400' }));
    expect(recorded.waited).toBeGreaterThanOrEqual(200);
    expect(recorded.waited).toBeLessThan(240);
  });

  test('410 gets nothing more: its webhook is disabled and says why', async () => {
    const { recorded } = await answering(410);
    expect(recorded).toMatchObject({
      status: 'failed',
      next_attempt_at: null,
      outcome: 'refused',
      status_code: 410,
    });
    const { rows } = await system.pool.query('select is_enabled, disabled_reason from gateway.webhooks');
    expect(rows).toEqual([{ is_enabled: false, disabled_reason: expect.stringContaining('410') as string }]);
  });
});

test('a webhook that is deleted while an attempt is under way: the attempt is recorded, nothing follows', async () => {
  const receiver = await startReceiver();
  closing.push(receiver.close);
  const answering: (() => void)[] = [];
  receiver.answer = (_request, response) => void answering.push(() => response.writeHead(500).end());
  const { consume } = await system.start({ schedule: [0.05] });
  const { id, merchantId } = await system.webhook(receiver.url);
  await consume([1, 2, 3].map(() => message({ type: 'order.paid', merchantId })));
  await receiver.arrived(2);
  await system.pool.query('update gateway.webhooks set deleted_at = now(), is_enabled = false where id = $1', [id]);
  // Whatever was sent before the dispatcher saw it gets its answer.
  const timer = setInterval(() => answering.shift()?.(), 10);
  await system.eventually(`select 1 from webhooks.deliveries having bool_and(status = 'failed') and count(*) = 3`);
  clearInterval(timer);
  const sent = receiver.received.length;
  const { rows } = await system.pool.query(
    `select (select count(*) from webhooks.attempts)::int as attempts, (select count(*) from webhooks.queue)::int as queued`,
  );
  expect(rows).toEqual([{ attempts: sent, queued: 0 }]);
});
