import pg from 'pg';
import { type Broker, DEFAULT_SETTINGS, type Settings } from './broker.ts';
import { GroupCoordinator } from './groups/group-coordinator.ts';
import { listen } from './server.ts';
import { Catalogue } from './storage/catalogue.ts';
import { startCleanup } from './storage/cleanup.ts';
import { Log } from './storage/log.ts';
import { OffsetStore } from './storage/offset-store.ts';
import { prepareSchema } from './storage/schema.ts';
import { TailCache } from './storage/tail-cache.ts';
import { StorageWriter } from './storage/storage-writer.ts';
import { TransactionCoordinator } from './transaction-coordinator.ts';

export interface KafkaOptions extends Partial<Settings> {
  /** A PostgreSQL database of the broker's own: it keeps all it has in the schema `kafka` there. */
  readonly databaseUrl: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly host?: string;
  /** Where clients are told to connect, when that is not `host`. */
  readonly advertisedHost?: string;
  /** The same for `port`. */
  readonly advertisedPort?: number;
  readonly log?: (line: string) => void;
}

export interface Kafka {
  readonly port: number;
  /** `host:port`, as clients want it. */
  readonly brokers: string;
  readonly stop: () => Promise<void>;
}

const READ_CONNECTIONS = 4;
const READ_TIMEOUT_MS = 30_000;

/** Starts a broker. Waits for a database that is away, now and later on. Throws when the port is taken (the error of `listen`),
 *  for data of another format (ForeignFormat), and when another broker keeps writing to the database (SecondBroker). */
export const startKafka = async ({ databaseUrl, port, ...options }: KafkaOptions): Promise<Kafka> => {
  const { host = '127.0.0.1', advertisedHost, advertisedPort, log = () => {}, ...given } = options;
  const settings: Settings = { ...DEFAULT_SETTINGS, ...given };
  const listener = await listen(host, port, log);

  const catalogue = new Catalogue();
  const reads = new pg.Pool({ connectionString: databaseUrl, max: READ_CONNECTIONS, query_timeout: READ_TIMEOUT_MS });
  reads.on('error', () => {}); // the pool replaces an idle connection that breaks
  let clusterId = '';
  const writer = new StorageWriter({
    databaseUrl,
    lockWaitMs: settings.lockWaitMs,
    log,
    load: async (db) => {
      clusterId = await prepareSchema(db);
      await catalogue.load(db);
    },
    onLost: () => records.onSessionLost(),
  });
  const records = new Log(writer, reads, catalogue, new TailCache(settings.tailCacheBytes));
  const offsets = new OffsetStore(writer, reads, catalogue);
  const groups = new GroupCoordinator(offsets, settings);
  const transactions = new TransactionCoordinator(records, writer, catalogue, settings);
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
  const broker: Broker = { settings, address, clusterId, writer, catalogue, log: records, groups, transactions };
  const stopCleanup = startCleanup(broker, log);
  listener.startServing(broker);
  return {
    port: listener.port,
    brokers: `${address.host}:${address.port}`,
    stop: async () => {
      await stopCleanup();
      await close();
    },
  };
};
