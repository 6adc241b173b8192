import { type Server, type Socket, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker } from './broker.ts';
import { serveConnection } from './connection.ts';
import { MalformedRequest } from './protocol/request-reader.ts';

/** How long the end waits for answers that are under way. */
const LAST_ANSWERS_MS = 1_000;

export interface Listener {
  readonly port: number;
  /** From here on requests are served; clients that connected earlier have waited. */
  readonly startServing: (broker: Broker) => void;
  /** Gives the last answers and ends all connections. Resolves when the port is free. */
  readonly close: () => Promise<void>;
}

/** Takes the port. Throws what `listen` throws when it is taken. */
export const listen = async (host: string, port: number, log: (line: string) => void): Promise<Listener> => {
  const connections = new Map<Socket, AbortController>();
  const answering = new Set<Promise<void>>();
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
      .then((ready) => serveConnection(socket, ready, gone.signal, answering))
      .then(
        () => socket.end(),
        (error: Error) => {
          if (!isNetwork(error)) log(`closed the connection of ${socket.remoteAddress}: ${reasonOf(error)}`);
          socket.destroy();
        },
      );
  });
  await bound(server, host, port);
  return {
    port: (server.address() as { port: number }).port,
    startServing: open,
    close: async () => {
      const closed = new Promise<void>((done) => server.close(() => done()));
      for (const gone of connections.values()) gone.abort();
      await Promise.race([Promise.allSettled(answering), sleep(LAST_ANSWERS_MS, undefined, { ref: false })]);
      for (const socket of connections.keys()) socket.destroy();
      await closed;
    },
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

/** The client went away, or was sent away: nothing to tell. */
const isNetwork = (error: NodeJS.ErrnoException): boolean =>
  ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '');

const reasonOf = (error: Error): string =>
  error instanceof MalformedRequest ? error.message : `${error.name}: ${error.message}`;
