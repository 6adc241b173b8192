import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Server, ServerCredentials } from '@grpc/grpc-js';

export interface Connections {
  readonly port: number;
  /** Refuses new connections, waits for the calls in progress, asks the clients to leave and waits for them, each for a
   *  bounded time, and closes the connections that are left. */
  readonly close: (callsDone: Promise<void>) => Promise<void>;
}

const CALLS_GRACE_MS = 3_000;
const LAST_ANSWERS_MS = 100;
const CLIENTS_GRACE_MS = 500;

/** Listens for connections to `server`. Throws an error with code EADDRINUSE for a taken port.
 *  The sockets are injected, because a listener of the gRPC server would wait for ever for a client that does not close
 *  its side. */
export const listen = async (
  server: Server,
  host: string,
  port: number,
  credentials = ServerCredentials.createInsecure(),
): Promise<Connections> => {
  const injector = server.createConnectionInjector(credentials);
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    injector.injectConnection(socket);
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        Object.assign(new Error(`cannot listen on ${host}:${port}: ${cause.message}`, { cause }), { code: cause.code }),
      ),
    );
    listener.listen(port, host, resolve);
  });
  return {
    port: (listener.address() as { port: number }).port,
    close: async (callsDone) => {
      listener.close();
      await atMost(CALLS_GRACE_MS, callsDone);
      // A client on Node.js 24 takes a call for cancelled if its status arrives together with the end of the connection.
      if (sockets.size > 0) await sleep(LAST_ANSWERS_MS);
      const clientsGone = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
      await atMost(CLIENTS_GRACE_MS, clientsGone);
      server.forceShutdown();
      for (const socket of sockets) socket.destroy();
    },
  };
};

const atMost = async (ms: number, work: Promise<void>): Promise<void> => {
  const timer = new AbortController();
  await Promise.race([work, sleep(ms, undefined, { signal: timer.signal, ref: false }).catch(() => {})]);
  timer.abort();
};
