import { randomUUID } from 'node:crypto';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { LiveTail } from './live.ts';
import { Calls } from './protocol/calls.ts';
import { addServices } from './protocol/services.ts';
import { Reader } from './storage/reader.ts';
import { Writer } from './storage/writer.ts';

export interface EventStoreOptions {
  /** A PostgreSQL database for this server alone. */
  readonly databaseUrl: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly host?: string;
  readonly log?: (line: string) => void;
}

export interface EventStoreServer {
  readonly port: number;
  /** Connection string for `@eventstore/db-client`. */
  readonly url: string;
  /** Answers what was taken, ends subscriptions with UNAVAILABLE, and lets go of port and database. */
  readonly stop: () => Promise<void>;
}

/** Limits of EventStoreDB: what one append may hold, and the largest message that is read to find out. */
const MAX_APPEND_BYTES = 1024 * 1024;
const MAX_MESSAGE_BYTES = 17 * 1024 * 1024;
const STOP_WITHIN_MS = 5_000;

/** Serves the EventStoreDB protocol. Resolves once the database is there and the port is open, however long that
 *  takes. Throws `code: 'EADDRINUSE'` for a taken port, and UnusableDatabaseError for data of another format. */
export const startEventStore = async (options: EventStoreOptions): Promise<EventStoreServer> => {
  const { databaseUrl, port, host = '127.0.0.1', log = () => {} } = options;
  const now = Date.now;
  const live = new LiveTail();
  const reader = new Reader({ databaseUrl, now, log });
  const writer = new Writer({
    databaseUrl,
    log,
    now,
    onOpen: (lastPosition) => live.reset(lastPosition),
    onCommit: (events) => live.push(events),
  });
  const store = { writer, reader, live };
  const calls = new Calls(log);
  const server = new Server({ 'grpc.max_receive_message_length': MAX_MESSAGE_BYTES });
  const node = { id: randomUUID(), host, port };
  addServices(server, {
    store,
    calls,
    maxAppendBytes: MAX_APPEND_BYTES,
    node: () => node,
    now,
  });

  const stop = async () => {
    calls.stop();
    await shutDown(server);
    await writer.stop();
    await reader.close();
  };
  try {
    node.port = await bind(server, host, port);
    await writer.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { port: node.port, url: `esdb://${host}:${node.port}?tls=false`, stop };
};

const bind = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (!error) return resolve(bound);
      const code = /EADDRINUSE/.test(error.message) ? 'EADDRINUSE' : undefined;
      reject(
        Object.assign(new Error(`cannot listen on ${host}:${port}: ${error.message}`, { cause: error }), { code }),
      );
    });
  });

/** Lets open calls finish; those that do not in time are cut off. */
const shutDown = async (server: Server): Promise<void> => {
  const timer = setTimeout(() => server.forceShutdown(), STOP_WITHIN_MS);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  clearTimeout(timer);
};
