import { createHash } from 'node:crypto';
import type { Queryable } from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { CryptoDepositOptions } from '../rails/crypto-deposit.ts';
import type { DepositNetwork } from '../rails/networks.ts';
import { accountStream } from './account-stream.ts';
import { leaseIndexes, type LeaseIndexes } from './lease-indexes.ts';
import { unusedIndexes } from './unused-indexes.ts';

export interface DepositAccountsOptions {
  readonly client: EventStoreDBClient;
  readonly readModel: Queryable;
  readonly networks: readonly DepositNetwork[];
  readonly now: () => Date;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/** The accounts of the networks. Networks with the same key share an account. */
export const depositAccounts = ({
  client,
  readModel,
  networks,
  now,
  nowMs,
}: DepositAccountsOptions): CryptoDepositOptions['leaseIndexes'] => {
  const accounts = new Map<string, LeaseIndexes>();
  for (const fingerprint of new Set(networks.map(({ account }) => account.fingerprint))) {
    const sharing = networks.filter(({ account }) => account.fingerprint === fingerprint);
    const unused = unusedIndexes({
      client,
      readModel,
      account: fingerprint,
      earlierNames: sharing.map(({ account }) => createHash('sha256').update(account.xpub).digest('hex')),
      addressesAt: (index) => [...new Set(sharing.map((network) => network.addressAt(index)))],
    });
    const lease = leaseIndexes({ ...accountStream(client, fingerprint, now), ...unused, nowMs });
    accounts.set(fingerprint, lease);
  }
  return (fingerprint, count) => accounts.get(fingerprint)!(count);
};
