import type { GroupCoordinator } from './groups/group-coordinator.ts';
import type { RequestReader } from './protocol/request-reader.ts';
import type { ResponseWriter } from './protocol/response-writer.ts';
import type { Catalogue } from './storage/catalogue.ts';
import type { Log } from './storage/log.ts';
import type { TopicConfig } from './storage/topic-config.ts';
import type { StorageWriter } from './storage/storage-writer.ts';
import type { TransactionCoordinator } from './transaction-coordinator.ts';

/** What the handlers of requests work with. */
export interface Broker {
  readonly settings: Settings;
  readonly address: { readonly host: string; readonly port: number };
  readonly clusterId: string;
  readonly writer: StorageWriter;
  readonly catalogue: Catalogue;
  readonly log: Log;
  readonly groups: GroupCoordinator;
  readonly transactions: TransactionCoordinator;
}

export interface Settings {
  /** A topic that a client asks for, but that is not there, is made with `defaultPartitions`. */
  readonly autoCreateTopics: boolean;
  readonly defaultPartitions: number;
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  readonly maxTransactionTimeoutMs: number;
  /** Time between two looks for transactions that have taken too long. */
  readonly transactionCheckMs: number;
  /** A larger request ends its connection. */
  readonly maxRequestBytes: number;
  /** Of all partitions together. */
  readonly tailCacheBytes: number;
  /** How long the start waits for another broker on the same database to end. */
  readonly lockWaitMs: number;
  /** Time between two runs of the retention. */
  readonly cleanupIntervalMs: number;
  /** For topics that do not say otherwise. */
  readonly topicDefaults: TopicConfig;
}

/** The defaults of the real broker, but for the group's first rebalance, which waits for nobody. */
export const DEFAULT_SETTINGS: Settings = {
  autoCreateTopics: true,
  defaultPartitions: 1,
  minSessionTimeoutMs: 6_000,
  maxSessionTimeoutMs: 1_800_000,
  maxTransactionTimeoutMs: 900_000,
  transactionCheckMs: 1_000,
  maxRequestBytes: 100 * 1024 * 1024,
  tailCacheBytes: 64 * 1024 * 1024,
  lockWaitMs: 10_000,
  cleanupIntervalMs: 300_000,
  topicDefaults: { 'retention.ms': 7 * 86_400_000, 'retention.bytes': -1, 'max.message.bytes': 1_048_588 },
};

/** The one node of this cluster. */
export const NODE_ID = 1;

/** One request, its header read, its body still to be. */
export interface ApiRequest {
  readonly version: number;
  readonly reader: RequestReader;
  readonly clientId: string;
  readonly clientHost: string;
  /** Aborted when the client is gone or the broker stops: nobody waits for the answer. */
  readonly signal: AbortSignal;
}

/** Writes the response's body, or nothing where the client wants none (null). */
export type ResponseBody = ((response: ResponseWriter) => void) | null;

export type ApiHandler = (call: ApiRequest, broker: Broker) => Promise<ResponseBody> | ResponseBody;

/** One API and the versions of it that this broker speaks. */
export interface Api {
  readonly key: number;
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The first version with compact lengths and tagged fields; none unless given. */
  readonly flexibleFrom?: number;
  /** The next request of the connection may start before this one is answered: order is kept by the log. */
  readonly pipelined?: true;
  readonly handle: ApiHandler;
}
