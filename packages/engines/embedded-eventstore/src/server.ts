import { randomUUID } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { wallClockMs } from '@cpg/platform';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { type Access, accessControl } from './access.ts';
import { LiveTail } from './live-tail.ts';
import { CallHandlers } from './protocol/call-handlers.ts';
import { addServices } from './protocol/services.ts';
import { Reader } from './storage/reader.ts';
import { Reclaimer } from './storage/reclaimer.ts';
import { Writer } from './storage/writer.ts';
import { PendingBytes, type Store } from './store.ts';

export interface EventStoreOptions {
  /** A PostgreSQL database that only this server uses. */
  readonly databaseUrl: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly host?: string;
  /** The port in gossip, for clients that connect through a proxy. Default, also for 0: the port of the server. */
  readonly advertisedPort?: number;
  readonly log?: (line: string) => void;
  /** The most memory of appends that wait for their commit, in bytes. Default: 128 MiB. */
  readonly maxPendingBytes?: number;
  /** How long after a removal of events their disk space is reclaimed, in ms. Default: 30 s. */
  readonly reclaimDelayMs?: number;
  /** For tests: serves TLS with this key and certificate (PEM). */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** For tests: refuses calls as a server with users does. */
  readonly access?: Access;
  /** For tests: replaces the writer that appends use. */
  readonly wrapWriter?: (writer: Store['writer']) => Store['writer'];
}

export interface EventStoreServer {
  readonly port: number;
  /** Connection string for `@eventstore/db-client`. */
  readonly url: string;
  /** Finishes accepted calls, ends subscriptions with UNAVAILABLE, then frees the port and the database. */
  readonly stop: () => Promise<void>;
}

// As in EventStoreDB. A message may be larger than an append, so that a too large append gets its proper error.
const MAX_APPEND_BYTES = 1024 * 1024;
const MAX_MESSAGE_BYTES = 17 * 1024 * 1024;

/** Serves the EventStoreDB protocol. Waits until the database is available, then resolves.
 *  Throws an error with code EADDRINUSE for a taken port, and UnsupportedSchemaVersion for data of another version. */
export const startEventStore = async (options: EventStoreOptions): Promise<EventStoreServer> => {
  const { databaseUrl, port, host = '127.0.0.1', log = () => {} } = options;
  const now = wallClockMs;
  const live = new LiveTail();
  const reader = new Reader({ databaseUrl, now, log });
  const reclaimer = new Reclaimer({ databaseUrl, log, head: () => live.head, delayMs: options.reclaimDelayMs });
  const writer = new Writer({
    databaseUrl,
    log,
    now,
    onOpen: (lastPosition) => live.reset(lastPosition),
    onCommit: (events) => live.push(events),
    onRemove: ({ stream, before }) => {
      live.remove((event) => event.stream === stream && event.revision < before);
      reclaimer.schedule();
    },
  });
  const store = {
    writer: options.wrapWriter?.(writer) ?? writer,
    reader,
    live,
    pendingBytes: new PendingBytes(options.maxPendingBytes),
  };
  const handlers = new CallHandlers(log);
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    ...(options.access && { interceptors: [accessControl(options.access)] }),
  });
  const node = { id: randomUUID(), host, port: 0 };
  addServices(server, {
    store,
    handlers,
    maxAppendBytes: MAX_APPEND_BYTES,
    node: () => node,
    now,
  });

  let connections: Connections | null = null;
  const stop = async () => {
    handlers.endStreams();
    await connections?.close(handlers.allDone());
    await reclaimer.stop();
    await writer.stop();
    await reader.close();
  };
  try {
    connections = await listen(server, host, port, credentialsOf(options));
    node.port = options.advertisedPort || connections.port;
    await writer.start();
    reclaimer.schedule();
  } catch (error) {
    await stop();
    throw error;
  }
  return { port: connections.port, url: `esdb://${host}:${connections.port}?tls=${Boolean(options.tls)}`, stop };
};

const credentialsOf = ({ tls }: EventStoreOptions): ServerCredentials =>
  tls
    ? ServerCredentials.createSsl(null, [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }])
    : ServerCredentials.createInsecure();

interface Connections {
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
const listen = async (
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
      // A client on Node.js 24 takes a call for cancelled if its status arrives together with the end of the
      // connection.
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
