import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker } from './broker.ts';
import { serveConnection } from './connection.ts';
import { PartialRequests } from './frames.ts';
import { MalformedRequest } from './protocol/request-reader.ts';

/** How long `close` waits for the responses in progress. */
const CLOSE_GRACE_MS = 1_000;
/** A client that keeps sending invalid requests must not fill the log. */
const MAX_LINES_PER_MINUTE = 10;

export interface Listener {
  readonly port: number;
  /** Starts to serve requests. Connections that were accepted before wait until then. */
  readonly startServing: (broker: Broker) => void;
  /** Finishes the responses in progress and closes all connections. Resolves when the port is free. */
  readonly close: () => Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly maxPartialRequestBytes: number;
  readonly log: (line: string) => void;
}

/** Listens on the port. Throws the error of `net.Server.listen` if it is taken. */
export const listen = async ({ host, port, maxPartialRequestBytes, log }: ListenOptions): Promise<Listener> => {
  const logClosed = limitedLog(log, MAX_LINES_PER_MINUTE);
  const partialRequests = new PartialRequests(maxPartialRequestBytes, tooManyPartialRequests);
  const connections = new Map<Socket, AbortController>();
  const pendingResponses = new Set<Promise<void>>();
  let startServing = (_: Broker) => {};
  const broker = new Promise<Broker>((done) => {
    startServing = done;
  });
  const server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
    const closed = new AbortController();
    const client = `${socket.remoteAddress}:${socket.remotePort}`;
    connections.set(socket, closed);
    socket.on('error', () => {}); // the event "close" follows
    socket.on('close', () => {
      connections.delete(socket);
      closed.abort();
    });
    broker
      .then((ready) => serveConnection(socket, ready, { signal: closed.signal, pendingResponses, partialRequests }))
      .then(
        () => socket.end(),
        (error: Error) => {
          if (!isDisconnect(error)) logClosed(`closed the connection of ${client}: ${reasonOf(error)}`);
          socket.destroy();
        },
      );
  });
  await startListening(server, host, port);
  return {
    port: (server.address() as { port: number }).port,
    startServing,
    close: async () => {
      const serverClosed = new Promise<void>((done) => server.close(() => done()));
      for (const closed of connections.values()) closed.abort();
      await Promise.race([Promise.allSettled(pendingResponses), sleep(CLOSE_GRACE_MS, undefined, { ref: false })]);
      for (const socket of connections.keys()) socket.destroy();
      await serverClosed;
    },
  };
};

const startListening = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      server.on('error', () => {}); // a single connection was not accepted
      done();
    });
  });

/** The client disconnected, or the server closed the connection. Neither is worth a log line. */
const isDisconnect = (error: NodeJS.ErrnoException): boolean =>
  ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '');

const tooManyPartialRequests = (maxBytes: number) =>
  new MalformedRequest(`the requests that arrived in part take more than ${maxBytes} bytes of memory together`);

const reasonOf = (error: Error): string =>
  error instanceof MalformedRequest ? error.message : `${error.name}: ${error.message}`;

/** Passes at most `maxLines` lines a minute to `log`, and one more at its end with the number of the others. */
export const limitedLog = (log: (line: string) => void, maxLines: number): ((line: string) => void) => {
  let lines = 0;
  const endMinute = () => {
    if (lines > maxLines) log(`${lines - maxLines} more lines like these were left out in the last minute`);
    lines = 0;
  };
  return (line) => {
    if (lines === 0) setTimeout(endMinute, 60_000).unref();
    lines += 1;
    if (lines <= maxLines) log(line);
  };
};
