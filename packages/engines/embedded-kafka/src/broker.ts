import type { GroupCoordinator } from './groups/group-coordinator.ts';
import type { Settings } from './settings.ts';
import type { Catalogue } from './storage/catalogue.ts';
import type { LogReader } from './storage/log-reader.ts';
import type { LogWriter } from './storage/log-writer.ts';
import type { TopicStore } from './storage/topic-store.ts';
import type { TransactionCoordinator } from './transaction-coordinator.ts';

/** Everything that the API handlers use. */
export interface Broker {
  readonly settings: Settings;
  /** The address that clients connect to. */
  readonly address: { readonly host: string; readonly port: number };
  readonly clusterId: string;
  readonly catalogue: Catalogue;
  readonly topics: TopicStore;
  readonly logReader: LogReader;
  readonly logWriter: LogWriter;
  readonly groups: GroupCoordinator;
  readonly transactions: TransactionCoordinator;
  /** Removes the rows of deleted records soon, instead of at the next interval. */
  readonly requestCleanup: () => void;
}

/** The id of the only node of the cluster. */
export const NODE_ID = 1;
