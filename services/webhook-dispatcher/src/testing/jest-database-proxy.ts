import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a database. `disconnect` closes all connections and refuses new ones, which it counts, until
 *  `reconnect`. */
export const startDatabaseProxy = async (databaseUrl: string) => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isDisconnected = false;
  let refused = 0;
  const server = createServer((client) => {
    if (isDisconnected) {
      refused += 1;
      return void client.resetAndDestroy();
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const closeAll = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: url.toString(),
    refused: () => refused,
    disconnect: () => {
      isDisconnected = true;
      closeAll();
    },
    reconnect: () => {
      isDisconnected = false;
    },
    close: () => {
      closeAll();
      server.close();
    },
  };
};

export type DatabaseProxy = Awaited<ReturnType<typeof startDatabaseProxy>>;
