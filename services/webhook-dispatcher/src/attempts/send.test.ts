import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';
import { RESPONSE_BYTES } from './send.ts';
import { createSender, type Sender, type SenderOptions } from './send.ts';

let receiver: Receiver;
const senders: Sender[] = [];
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(senders.splice(0).map((sender) => sender.close()));
  await receiver.close();
});

const sender = (options: Partial<SenderOptions> = {}) => {
  const made = createSender({ allowLocal: true, connections: 4, now: () => new Date(), ...options });
  senders.push(made);
  return made;
};
const post = (url: string, from: Sender = sender(), webhookId = 'whk_1') =>
  from.post({ webhookId, url: new URL(url), headers: ['content-type', 'application/json'], body: Buffer.from('{}') });

test.each([200, 201, 204, 299])('%i means delivered', async (status) => {
  receiver.answer = respond(status);
  expect(await post(receiver.url)).toMatchObject({ outcome: 'delivered', statusCode: status });
});

test.each([300, 301, 307, 304, 400, 404, 410, 429, 500, 503])('%i means refused', async (status) => {
  receiver.answer = respond(status, { location: `${receiver.url}/elsewhere`, 'retry-after': '7' });
  expect(await post(`${receiver.url}/hook`)).toMatchObject({ outcome: 'refused', statusCode: status, retryAfter: '7' });
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
});

test('records the start of the response as text that the database can store', async () => {
  receiver.answer = (_request, response) => void response.writeHead(500).end('down\0 for \xff lunch');
  expect(await post(receiver.url)).toMatchObject({ response: 'down for \xff lunch' });
});

test('stops reading an endless response', async () => {
  let written = 0;
  receiver.answer = (_request, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(1_024))) written += 1_024;
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };
  expect(await post(receiver.url)).toMatchObject({ outcome: 'delivered', statusCode: 200 });
  expect(written).toBeGreaterThanOrEqual(RESPONSE_BYTES);
});

test('ends a response that arrives byte by byte when the attempt times out', async () => {
  let trickle: NodeJS.Timeout | undefined;
  receiver.answer = (_request, response) => {
    response.writeHead(200);
    trickle = setInterval(() => response.write('.'), 10);
  };
  // Long enough for the headers, also on a busy machine.
  expect(await post(receiver.url, sender({ attemptWithinMs: 2_000 }))).toMatchObject({
    outcome: 'timed_out',
    statusCode: 200,
  });
  clearInterval(trickle);
});

test('times out without an answer', async () => {
  receiver.answer = () => {};
  expect(await post(receiver.url, sender({ attemptWithinMs: 50 }))).toMatchObject({ outcome: 'timed_out' });
});

test('refuses endless headers', async () => {
  receiver.answer = respond(200, { 'x-long': 'x'.repeat(64 * 1_024) });
  const attempt = await post(receiver.url);
  expect(attempt).toMatchObject({
    outcome: 'unreachable',
    error: 'UND_ERR_HEADERS_OVERFLOW: Headers Overflow Error',
  });
});

/** A server that speaks TCP only. */
const listen = async (serve: (socket: Socket) => void) => {
  const server = createServer(serve);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => new Promise((done) => server.close(done)) };
};

// RFC 9110, section 15.2: a client parses them even if it does not expect any.
test.each([
  '100 Continue',
  '102 Processing',
  '103 Early Hints',
  '100 Continue, 100 Continue',
  '102 Processing, 103 Early Hints',
])('skips unasked informational responses: %s', async (informational) => {
  let connections = 0;
  const server = await listen((socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.on('data', () => {
      for (const status of informational.split(', ')) socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
      // In a packet of its own, as from a server that sends them while it works.
      setImmediate(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone'));
    });
  });
  const one = sender();
  const attempts = [await post(server.url, one), await post(server.url, one)];

  expect(attempts).toEqual(Array(2).fill(expect.objectContaining({ outcome: 'delivered', response: 'done' })));
  expect(connections).toBe(1);
  await one.close();
  await server.close();
});

describe('the attempt fails on a connection', () => {
  test.each([
    ['closed without an answer', ''],
    ['closed within the headers', 'HTTP/1.1 200 OK\r\nx-a: '],
    ['closed within the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nok'],
    ['with another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ])('%s', async (_case, answer) => {
    const server = await listen((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(answer));
    });
    expect(await post(server.url)).toMatchObject({ outcome: 'unreachable' });
    await server.close();
  });

  test('that is refused', async () => {
    const server = await listen(() => {});
    await server.close();
    expect(await post(server.url)).toMatchObject({
      outcome: 'unreachable',
      error: `connect ECONNREFUSED ${new URL(server.url).host}`,
    });
  });

  test('that each address of the host refuses', async () => {
    const server = await listen(() => {});
    await server.close();
    const { port } = new URL(server.url);
    const one = sender({ resolve: async () => ['127.0.0.1', '127.0.0.2'] });
    expect(await post(`http://localhost:${port}`, one)).toMatchObject({
      outcome: 'unreachable',
      error: `Error: connect ECONNREFUSED 127.0.0.1:${port}; Error: connect ECONNREFUSED 127.0.0.2:${port}`,
    });
  });
});

test('reuses connections', async () => {
  const ports = new Set<number | undefined>();
  receiver.answer = (_request, response, raw) => {
    ports.add(raw.socket.remotePort);
    response.end();
  };
  const one = sender();
  for (let n = 0; n < 5; n += 1) await post(receiver.url, one);
  expect(ports.size).toBe(1);
});

test('an endpoint that hangs takes no connection from another webhook on its host', async () => {
  receiver.answer = ({ path }, response) => void (path === '/healthy' && response.end());
  const one = sender({ connections: 1 });
  const hanging = [1, 2, 3].map(() => post(`${receiver.url}/hanging`, one, 'whk_hanging'));
  expect(await post(`${receiver.url}/healthy`, one, 'whk_healthy')).toMatchObject({ outcome: 'delivered' });
  one.abort();
  expect(await Promise.all(hanging)).toEqual([null, null, null]);
});

describe('does not connect', () => {
  const strict = (addresses: string[]) => sender({ allowLocal: false, resolve: async () => addresses });

  test('by plain http', async () =>
    expect(await post('http://merchant.example/', strict(['93.184.216.34']))).toMatchObject({ outcome: 'blocked' }));

  test('to private addresses, even where loopback is allowed', async () => {
    const local = sender({ resolve: async () => ['192.168.0.1'] });
    expect(await post('https://merchant.example/', local)).toMatchObject({ outcome: 'blocked' });
    expect(await post('http://10.0.0.1/', local)).toMatchObject({ outcome: 'blocked' });
  });

  test('by plain http to a public name, even where loopback is allowed', async () => {
    const local = sender({ resolve: async () => ['127.0.0.1'] });
    expect(await post(receiver.url.replace('127.0.0.1', 'merchant.example'), local)).toMatchObject({
      outcome: 'blocked',
    });
  });
});

test('allows localhost where loopback is allowed', async () => {
  expect(await post(receiver.url.replace('127.0.0.1', 'localhost'))).toMatchObject({ outcome: 'delivered' });
});

test('a name that does not resolve means unreachable', async () => {
  const lost = sender({ resolve: async () => Promise.reject(new Error('queryA ENOTFOUND merchant.example')) });
  expect(await post('https://merchant.example/', lost)).toMatchObject({
    outcome: 'unreachable',
    error: expect.stringContaining('ENOTFOUND') as string,
  });
});
