import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { closeUnreadConnections, type UnreadResponseOptions } from './unread-responses.ts';

const MEBIBYTE = 1024 * 1024;
/** More than socket buffers hold. */
const LARGE = 64;

let app: FastifyInstance;
afterEach(() => app.close());

/** A server that responds with the requested number of MiB. */
const startServer = async (options: UnreadResponseOptions) => {
  app = Fastify({ forceCloseConnections: true });
  closeUnreadConnections(app, options);
  app.get<{ Params: { size: string } }>('/:size', (request) => 'x'.repeat(Number(request.params.size) * MEBIBYTE));
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  /** Sends a request and reads only the beginning of the response. */
  const requestOnly = async (size: number): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(`GET /${size} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await once(socket, 'readable');
    return socket;
  };
  return { requestOnly, get: async (size: number) => (await fetch(`http://127.0.0.1:${port}/${size}`)).text() };
};

/** Reads what has arrived, and resolves when the server closes the connection. */
const closed = (socket: Socket) => new Promise<string>((done) => socket.on('close', () => done('closed')).resume());

test('closes a connection that does not read its response in time, and no other', async () => {
  const { requestOnly, get } = await startServer({ withinMs: 200 });
  const stalled = await requestOnly(LARGE);
  expect(await get(1)).toHaveLength(MEBIBYTE);
  while ((await openConnections()) > 1) await new Promise(setImmediate);
  expect(await closed(stalled)).toBe('closed');
});

test('closes the oldest unread responses when all of them have too many bytes', async () => {
  const { requestOnly, get } = await startServer({ maxBytes: 1.5 * LARGE * MEBIBYTE, graceMs: 100 });
  const first = await requestOnly(LARGE);
  const second = await requestOnly(LARGE);
  expect(await closed(first)).toBe('closed');
  expect(await get(1)).toHaveLength(MEBIBYTE);
  let received = 0;
  second.on('data', (chunk: Buffer) => (received += chunk.length));
  while (received < LARGE * MEBIBYTE) await once(second, 'data');
  second.destroy();
});

const openConnections = () =>
  new Promise<number>((done, fail) => app.server.getConnections((error, count) => (error ? fail(error) : done(count))));
