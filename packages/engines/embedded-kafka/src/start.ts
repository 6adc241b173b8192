import pg from 'pg';
import type { Broker } from './protocol/api.ts';
import { GroupCoordinator } from './groups/group-coordinator.ts';
import { listen } from './server.ts';
import { DEFAULT_SETTINGS, type Settings } from './settings.ts';
import { Catalogue } from './storage/catalogue.ts';
import { startCleanup } from './storage/cleanup.ts';
import { LogReader } from './storage/log-reader.ts';
import { LogWriter } from './storage/log-writer.ts';
import { OffsetStore } from './storage/offset-store.ts';
import { prepareSchema } from './storage/schema.ts';
import { StorageWriter } from './storage/storage-writer.ts';
import { TailCache } from './storage/tail-cache.ts';
import { TopicStore } from './storage/topic-store.ts';
import { TransactionCoordinator } from './transaction-coordinator.ts';

export interface KafkaOptions extends Partial<Settings> {
  /** A PostgreSQL database for this broker alone. All tables are in its schema `kafka`. */
  readonly databaseUrl: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly host?: string;
  /** The host that clients connect to, if it is not `host`. */
  readonly advertisedHost?: string;
  /** The port that clients connect to, if it is not `port`. */
  readonly advertisedPort?: number;
  readonly log?: (line: string) => void;
}

export interface Kafka {
  readonly port: number;
  /** `host:port`, for the broker list of a client. */
  readonly brokers: string;
  readonly stop: () => Promise<void>;
}

const READ_CONNECTIONS = 4;
const READ_TIMEOUT_MS = 30_000;

/** Starts a broker. Waits while the database is unavailable, at the start and later. Throws the error of
 *  `net.Server.listen` if the port is taken, UnsupportedSchemaVersion for data of a later version, and
 *  WriterLockTaken if another broker uses the database. Throws an Error if `host` means all addresses and
 *  `advertisedHost` is missing. */
export const startKafka = async ({ databaseUrl, port, ...options }: KafkaOptions): Promise<Kafka> => {
  const { host = '127.0.0.1', advertisedHost, advertisedPort, log = () => {}, ...overrides } = options;
  const settings: Settings = { ...DEFAULT_SETTINGS, ...overrides };
  if (isUnspecified(host) && !advertisedHost)
    throw new Error(`set KAFKA_ADVERTISED_HOST to the address that clients use: they cannot connect to ${host}`);
  const { maxPartialRequestBytes } = settings;
  const listener = await listen({ host, port, maxPartialRequestBytes, log });

  const catalogue = new Catalogue();
  const reads = new pg.Pool({ connectionString: databaseUrl, max: READ_CONNECTIONS, query_timeout: READ_TIMEOUT_MS });
  reads.on('error', () => {}); // the pool replaces broken idle connections
  let clusterId = '';
  const writer = new StorageWriter({
    databaseUrl,
    lockWaitMs: settings.lockWaitMs,
    log,
    load: async (db) => {
      clusterId = await prepareSchema(db);
      await catalogue.load(db);
    },
    onLost: () => logWriter.onSessionLost(),
  });
  const logWriter = new LogWriter(writer, catalogue, new TailCache(settings.tailCacheBytes));
  const logReader = new LogReader(reads);
  const topics = new TopicStore(writer, catalogue);
  const offsets = new OffsetStore(writer, reads, catalogue);
  const groups = new GroupCoordinator(offsets, settings);
  const transactions = new TransactionCoordinator(logWriter, writer, catalogue, settings);
  const close = async () => {
    await listener.close();
    groups.close();
    transactions.close();
    await writer.stop();
    await reads.end();
  };
  try {
    await writer.start();
  } catch (error) {
    await close();
    throw error;
  }

  const address = { host: advertisedHost ?? host, port: advertisedPort ?? listener.port };
  const broker: Broker = {
    settings,
    address,
    clusterId,
    catalogue,
    topics,
    logReader,
    logWriter,
    groups,
    transactions,
    requestCleanup: () => cleanup.request(),
  };
  const cleanup = startCleanup({ databaseUrl, settings, catalogue, logReader, logWriter, writer, log });
  listener.startServing(broker);
  return {
    port: listener.port,
    brokers: `${address.host}:${address.port}`,
    stop: async () => {
      await cleanup.stop();
      await close();
    },
  };
};

/** Whether `host` stands for all addresses of the machine. */
const isUnspecified = (host: string): boolean => ['', '0.0.0.0', '::', '[::]'].includes(host);
