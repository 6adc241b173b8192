import { once } from 'node:events';
import { type Socket, connect, createServer } from 'node:net';

/** Stands between a client and the server of `url`, so that a test can take the server away without stopping it. */
export const startProxy = async (url: string) => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let up = true;
  const server = createServer((client) => {
    if (!up) return client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {}); // "close" follows
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.port = String((server.address() as { port: number }).port);
  const cut = () => {
    up = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: through.href,
    /** Ends all connections and refuses new ones. */
    cut,
    restore: () => {
      up = true;
    },
    stop: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
};
