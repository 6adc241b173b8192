import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { ChainNode } from '@cpg/local-chain';
import { freePort } from '@cpg/ports';
import { reservePorts, STANDARD_PORTS } from './ports.ts';
import { type Stack, startStack } from './stack.ts';

export interface ProxiedStack {
  readonly stack: Stack;
  readonly proxies: Proxies;
  /** Stops all processes and removes the data. */
  readonly stop: () => Promise<void>;
}

export interface ProxiedStackOptions {
  readonly dispatchers?: number;
  /** Numbers of instances, at most two of a service. */
  readonly scale?: string | undefined;
  /** Whether services find the event store by gossip. */
  readonly discover: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

const VIA_PORT_OFFSET = 1_000;

/** Starts a stack whose processes connect to each other through proxies. */
export const startProxiedStack = async ({ discover, env, ...options }: ProxiedStackOptions): Promise<ProxiedStack> => {
  const { offset, release } = await reservePorts([VIA_PORT_OFFSET]);
  const proxies = await startProxies(
    Object.entries(STANDARD_PORTS).map(([name, port]) => ({
      name,
      port: port + offset + VIA_PORT_OFFSET,
      target: port + offset,
    })),
  );
  const addresses = {
    PORT_OFFSET: String(offset),
    VIA_PORT_OFFSET: String(VIA_PORT_OFFSET),
    EVENTSTORE_DISCOVER: String(discover),
  };
  const free = () => {
    proxies.close();
    release();
  };
  try {
    const stack = await startStack({ ...options, env: { ...addresses, ...env } });
    const stop = async () => {
      await stack.stop();
      free();
    };
    return { stack, proxies, stop };
  } catch (error) {
    free();
    throw error;
  }
};

/** The address of a server, such as a chain node, where another can take its place. */
export interface NodeRoute {
  /** What services read. */
  readonly url: string;
  readonly leadTo: (node: Pick<ChainNode, 'url'>) => void;
  /** Refuses connections, as if no server ran. Resolves to a function that accepts them again. */
  readonly block: () => Promise<() => Promise<void>>;
  readonly close: () => void;
}

export const routeTo = async (node: Pick<ChainNode, 'url'>): Promise<NodeRoute> => {
  const port = await freePort();
  const proxies = await startProxies([{ name: 'node', port, target: portOf(node) }]);
  const url = new URL(node.url);
  url.port = String(port);
  return {
    url: url.href,
    leadTo: (other) => proxies.redirect('node', portOf(other)),
    block: () => proxies.block('node'),
    close: proxies.close,
  };
};

const portOf = ({ url }: Pick<ChainNode, 'url'>): number => Number(new URL(url).port);

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

interface Route {
  readonly name: string;
  /** The port that clients connect to. */
  readonly port: number;
  /** The port of the process. */
  readonly target: number;
}

const HOST = '127.0.0.1';

/** Starts a proxy for each route. Throws if a port is taken. */
const startProxies = async (routes: readonly Route[]): Promise<Proxies> => {
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
