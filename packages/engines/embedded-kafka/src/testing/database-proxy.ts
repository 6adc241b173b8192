import { once } from 'node:events';
import { type Socket, connect, createServer } from 'node:net';

/** A TCP proxy before the server of `url`. Tests use it to simulate an outage of the server. */
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
      socket.on('error', () => {}); // the event "close" follows
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
    /** Closes all connections and refuses new ones, until `restore`. */
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
