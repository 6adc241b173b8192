import { createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { ConfigError, createLogger } from '@cpg/platform';
import { type EventStoreDBClient, WrongExpectedVersionError } from '@eventstore/db-client';
import { certificates } from '../testing/jest-certificates.ts';
import { checkEventStore, CheckFailedError } from './connect.ts';
import { explainEventStore, explainFailure, openEventStore } from './open.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const URL = 'esdb://pay:secret@store';

/** A client whose calls fail with an error. */
const clientThatFails = (error: Error) =>
  ({
    readAll: () => new Readable({ objectMode: true, read: () => {} }).destroy(error),
    appendToStream: () => Promise.reject(error),
    dispose: async () => {},
  }) as unknown as EventStoreDBClient;
const refused = () => Object.assign(new Error('16 UNAUTHENTICATED'), { code: 16 });

test('a check that fails by a wrong setting says which', async () => {
  const store = openEventStore({ url: URL, log, connect: () => clientThatFails(refused()) });
  const checking = store.check();
  await expect(checking).rejects.toBeInstanceOf(ConfigError);
  await expect(checking).rejects.toThrow('refuses the password of user "pay"');
  expect(await explainEventStore(clientThatFails(refused()), URL)).toBeInstanceOf(ConfigError);
  await store.close();
});

test('a check that fails by an outage says what failed', async () => {
  const store = openEventStore({ url: URL, log, connect: () => clientThatFails(new Error('away')) });
  await expect(store.check()).rejects.toBeInstanceOf(CheckFailedError);
  expect(await explainEventStore(clientThatFails(new Error('away')), URL)).toBeNull();
  await store.close();
});

const works = {
  readAll: () => Readable.from([]),
  appendToStream: () => Promise.reject(new WrongExpectedVersionError(null as never, { streamName: 's' } as never)),
};
test.each([
  ['read', 'readAll'],
  ['append', 'appendToStream'],
] as const)('a check fails where only %s fails, and says so', async (asked, call) => {
  const client = { ...works, [call]: clientThatFails(new Error('away'))[call] } as unknown as EventStoreDBClient;
  await expect(checkEventStore(client)).rejects.toMatchObject({
    asked,
    message: `the event store fails to ${asked}: away`,
  });
  await expect(checkEventStore(works as unknown as EventStoreDBClient)).resolves.toBeUndefined();
});

describe('without TLS in the address, a server that does not answer', () => {
  let server: Server;
  const sockets = new Set<Socket>();
  const serve = async (made: Server) => {
    server = made.on('connection', (socket) => sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  };
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const explain = (host = '127.0.0.1') => {
    const { port } = server.address() as { port: number };
    const error = new Error('14 UNAVAILABLE: No connection established. Last error: Failed to connect');
    return explainFailure(new CheckFailedError('read', error), `esdb://${host}:${port}?tls=false`);
  };

  test('requires TLS, if it speaks it', async () => {
    await serve(createTlsServer({ key: certificates.key, cert: certificates.localhost }));
    expect((await explain())?.message).toBe('the event store requires TLS: remove tls=false from EVENTSTORE_URL');
  });

  test('is only unavailable, if another host speaks TLS on its port', async () => {
    await serve(createTlsServer({ key: certificates.key, cert: certificates.localhost }));
    expect(await explain('nowhere.invalid')).toBeNull();
  });

  test.each<[string, (socket: Socket) => unknown]>([
    ['is silent', () => {}],
    ['hangs up', (socket) => socket.end()],
    ['speaks something else', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('is only unavailable, if it %s', async (_, answer) => {
    await serve(createServer(answer));
    expect(await explain()).toBeNull();
  });
});
