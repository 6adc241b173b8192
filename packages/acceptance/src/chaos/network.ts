import { connect, createServer, type Server, type Socket } from 'node:net';

/** The wires between the processes of a stack, which can be cut. */
export interface Network {
  /** Cuts every connection to one of them, in the middle of whatever is on its way. New ones are let through. */
  readonly cut: (name: string) => void;
  readonly close: () => void;
}

export interface Wire {
  readonly name: string;
  /** Where others connect. */
  readonly port: number;
  /** Where it listens itself. */
  readonly target: number;
}

const HOST = '127.0.0.1';

/** Listens on every wire's port and passes on what comes. Throws when a port is taken. */
export const layWires = async (wires: readonly Wire[]): Promise<Network> => {
  const sockets = new Map(wires.map(({ name }) => [name, new Set<Socket>()]));
  const servers = await Promise.all(wires.map(({ name, port, target }) => lay(port, target, sockets.get(name)!)));
  const cut = (name: string) => {
    for (const socket of sockets.get(name)!) socket.resetAndDestroy();
  };
  return {
    cut,
    close: () => {
      for (const server of servers) server.close();
      for (const { name } of wires) cut(name);
    },
  };
};

const lay = (port: number, target: number, sockets: Set<Socket>): Promise<Server> => {
  const server = createServer({ noDelay: true }, (caller) => {
    const callee = connect({ host: HOST, port: target, noDelay: true });
    for (const [one, other] of [
      [caller, callee],
      [callee, caller],
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
