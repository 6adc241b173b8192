import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Stands between the gateway and its database, so that the way to it can be cut and mended. */
export interface Proxy {
  readonly url: string;
  readonly cut: () => Promise<void>;
  readonly mend: () => Promise<void>;
}

export const startProxy = async (target: string): Promise<Proxy> => {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server: Server = createServer((inner) => {
    const outer = connect(Number(port), hostname);
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        inner.destroy();
        outer.destroy();
      });
    }
    inner.pipe(outer).pipe(inner);
  });
  const listen = (at: number) => new Promise<void>((done) => server.listen(at, '127.0.0.1', done));
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const url = new URL(target);
  url.port = String(own);
  return {
    url: url.toString(),
    cut: () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => done());
      }),
    mend: () => listen(own),
  };
};
