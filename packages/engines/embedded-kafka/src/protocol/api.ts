import type { RequestReader } from './request-reader.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import type { Settings } from '../settings.ts';
import type { Catalogue } from '../storage/catalogue.ts';
import type { LogReader } from '../storage/log-reader.ts';
import type { LogWriter } from '../storage/log-writer.ts';
import type { TopicStore } from '../storage/topic-store.ts';
import type { TransactionCoordinator } from '../transaction-coordinator.ts';

/** A request whose header is parsed. `reader` stands at the start of the body. */
export interface ApiRequest {
  readonly version: number;
  readonly reader: RequestReader;
  readonly clientId: string;
  readonly clientHost: string;
  /** Aborted when the connection closes or the broker stops: nobody will read the response. */
  readonly signal: AbortSignal;
}

/** Writes the body of the response. Null sends no response at all. */
export type ResponseBody = ((response: ResponseWriter) => void) | null;

type ApiHandler = (request: ApiRequest, broker: Broker) => Promise<ResponseBody> | ResponseBody;

/** An API of the Kafka protocol, with the versions that this broker supports. */
export interface Api {
  readonly key: number;
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The first version with compact lengths and tagged fields. Without it, no version has them. */
  readonly flexibleFrom?: number;
  /** Whether the next request of the connection may start before this one is answered. */
  readonly pipelined?: true;
  readonly handle: ApiHandler;
}

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
