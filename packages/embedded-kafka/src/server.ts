import { type Server, type Socket, createServer } from 'node:net';
import type { Broker } from './broker.ts';
import { serve } from './connection.ts';
import { MalformedRequest } from './protocol/reader.ts';

export interface Listener {
  readonly port: number;
  /** From here on requests are served; clients that connected earlier have waited. */
  readonly open: (broker: Broker) => void;
  /** Ends all connections. Resolves when the port is free. */
  readonly close: () => Promise<void>;
}

/** Takes the port. Throws what `listen` throws when it is taken. */
export const listen = async (host: string, port: number, log: (line: string) => void): Promise<Listener> => {
  const connections = new Map<Socket, AbortController>();
  let open = (_: Broker) => {};
  const broker = new Promise<Broker>((done) => {
    open = done;
  });
  const server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
    const gone = new AbortController();
    connections.set(socket, gone);
    socket.on('error', () => {}); // "close" follows
    socket.on('close', () => {
      connections.delete(socket);
      gone.abort();
    });
    broker
      .then((ready) => serve(socket, ready, gone.signal))
      .then(
        () => socket.end(),
        (error: Error) => {
          if (!socket.destroyed) log(`closed the connection of ${socket.remoteAddress}: ${reasonOf(error)}`);
          socket.destroy();
        },
      );
  });
  await bound(server, host, port);
  return {
    port: (server.address() as { port: number }).port,
    open,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        for (const [socket, gone] of connections) {
          gone.abort();
          socket.destroy();
        }
      }),
  };
};

const bound = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      server.on('error', () => {}); // a single connection that could not be accepted
      done();
    });
  });

const reasonOf = (error: Error): string =>
  error instanceof MalformedRequest ? error.message : `${error.name}: ${error.message}`;
