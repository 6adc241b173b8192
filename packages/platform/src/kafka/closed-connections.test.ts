import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, type Socket, createServer } from 'node:net';

// Classes of kafkajs that it does not export. They are changed by patches/kafkajs@2.2.4.patch.
interface Connection {
  connect(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  send(request: object): Promise<unknown>;
}
type Protocol = (request: object) => object;
const load = createRequire(import.meta.url);
const KafkaConnection = load('kafkajs/src/network/connection') as new (options: object) => Connection;
const socketFactory = (load('kafkajs/src/network/socketFactory') as () => unknown)();
const { requests, lookup } = load('kafkajs/src/protocol/requests') as {
  requests: { Heartbeat: object };
  lookup: (versions: object) => (key: number, definition: object) => Protocol;
};

const HEARTBEAT = 12;
const heartbeat = lookup({ [HEARTBEAT]: { minVersion: 0, maxVersion: 0 } })(HEARTBEAT, requests.Heartbeat);
const silent = { namespace: () => silent, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test('a request that is sent while its connection closes fails, whatever the moment', async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = { host: '127.0.0.1', port, clientId: 'test', logger: silent, socketFactory };
  const failures = Array.from({ length: 30 }, async (_, microtasks) => {
    const connection = new KafkaConnection({ ...options, connectionTimeout: 5_000, requestTimeout: 100 });
    await connection.connect();
    const failure = connection.send(heartbeat({ groupId: 'g', groupGenerationId: 1, memberId: 'm' })).then(
      () => 'answered',
      (error: Error) => error.name,
    );
    for (let n = 0; n < microtasks; n += 1) await Promise.resolve();
    void connection.disconnect();
    return failure;
  });
  const names = new Set(await Promise.all(failures));
  for (const socket of sockets) socket.destroy();
  server.close();
  expect([...names].filter((name) => !/^KafkaJS(Connection|RequestTimeout)/.test(name))).toEqual([]);
});
