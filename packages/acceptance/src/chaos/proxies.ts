import { connect, createServer, type Server, type Socket } from 'node:net';

/** TCP proxies between the processes of a stack, whose connections can be cut. */
export interface Proxies {
  /** Resets all open connections to one process. New connections work. */
  readonly cut: (name: string) => void;
  readonly close: () => void;
}

export interface Route {
  readonly name: string;
  /** The port that clients connect to. */
  readonly port: number;
  /** The port of the process. */
  readonly target: number;
}

const HOST = '127.0.0.1';

/** Starts a proxy for each route. Throws if a port is taken. */
export const startProxies = async (routes: readonly Route[]): Promise<Proxies> => {
  const sockets = new Map(routes.map(({ name }) => [name, new Set<Socket>()]));
  const servers = await Promise.all(
    routes.map(({ name, port, target }) => startProxy(port, target, sockets.get(name)!)),
  );
  const cut = (name: string) => {
    for (const socket of sockets.get(name)!) socket.resetAndDestroy();
  };
  return {
    cut,
    close: () => {
      for (const server of servers) server.close();
      for (const { name } of routes) cut(name);
    },
  };
};

const startProxy = (port: number, target: number, sockets: Set<Socket>): Promise<Server> => {
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: HOST, port: target, noDelay: true });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {}); // "close" follows
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen({ host: HOST, port, exclusive: true }, () => done(server));
  });
};
