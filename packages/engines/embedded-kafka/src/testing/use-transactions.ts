import { type Cluster, newName, producerOf, readValues, startCluster } from './cluster.ts';
import { type FetchOptions, fetchFrom } from './fetch-client.ts';
import { RawClient } from './raw-client.ts';

/** A cluster that soon aborts the transactions past their timeout, for the tests of one file. Its clients are connected
 *  from `beforeAll` on. */
export const useTransactions = () => {
  let cluster: Cluster;
  let raw: RawClient;
  beforeAll(async () => {
    cluster = await startCluster({ transactionCheckMs: 200 });
    raw = await RawClient.connect(cluster.brokers);
  });
  afterAll(async () => {
    raw.close();
    await cluster.stop();
  });
  return {
    get brokers() {
      return cluster.brokers;
    },
    get client() {
      return cluster.client;
    },
    get admin() {
      return cluster.admin;
    },
    get producer() {
      return cluster.producer;
    },
    get raw() {
      return raw;
    },
    transactional: (transactionalId = newName('tx')) =>
      producerOf(cluster.client, { transactionalId, idempotent: true, maxInFlightRequests: 1 }),
    /** The values of the first `count` messages of the topic that are committed. */
    committed: (topic: string, count: number) => readValues(cluster.client, topic, count),
    /** Fetches by `read_committed`. */
    readCommitted: (topic: string, offset: number, options: FetchOptions = {}) =>
      fetchFrom(raw, topic, offset, { ...options, readCommitted: true }),
  };
};
