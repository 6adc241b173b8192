import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** TCP proxies between the processes of a stack, whose connections can be cut. */
export interface Proxies {
  /** Resets all open connections to one process. New connections work. */
  readonly cut: (name: string) => void;
  /** Resets all connections to one process and refuses new ones, as if nothing listened on its port. Resolves with a
   *  function that accepts connections again. */
  readonly block: (name: string) => Promise<() => Promise<void>>;
  /** Resets all open connections to one process, and leads new ones to another port. */
  readonly redirect: (name: string, target: number) => void;
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
  const targets = new Map(routes.map(({ name, target }) => [name, target]));
  const servers = new Map<string, Server>();
  const start = async ({ name, port }: Route) =>
    void servers.set(name, await startProxy(port, () => targets.get(name)!, sockets.get(name)!));
  await Promise.all(routes.map(start));
  const cut = (name: string) => {
    for (const socket of sockets.get(name)!) {
      // A reset fails while a socket ends, and Node.js never closes it then.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  };
  return {
    cut,
    block: async (name) => {
      const closed = once(servers.get(name)!.close(), 'close');
      cut(name);
      await closed;
      return () => start(routes.find((route) => route.name === name)!);
    },
    redirect: (name, target) => {
      targets.set(name, target);
      cut(name);
    },
    close: () => {
      for (const server of servers.values()) server.close();
      for (const { name } of routes) cut(name);
    },
  };
};

const startProxy = (port: number, target: () => number, sockets: Set<Socket>): Promise<Server> => {
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: HOST, port: target(), noDelay: true });
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
