import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '@cpg/ports';

/** A TCP proxy between the gateway and its database, to simulate an outage. */
export interface Proxy {
  readonly url: string;
  readonly disconnect: () => Promise<void>;
  readonly reconnect: () => Promise<void>;
}

export const startProxy = async (target: string): Promise<Proxy> => {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  const ownPort = await freePort();
  const listen = () => new Promise<void>((done) => server.listen(ownPort, '127.0.0.1', done));
  await listen();
  const url = new URL(target);
  url.port = String(ownPort);
  return {
    url: url.toString(),
    disconnect: () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => done());
      }),
    reconnect: listen,
  };
};
