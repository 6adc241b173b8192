import type { Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { AccountKey } from './account-key.ts';
import type { DepositNetwork } from './deposit-network.ts';
import type { AccountBook } from './account-book.ts';
import { accountStream } from './account-stream.ts';
import { leaseIndexes, type LeaseIndexes, skipIndexes, type SkippedIndexes } from './lease-indexes.ts';
import { unusedIndexes } from './unused-indexes.ts';

export interface DepositAccountsOptions {
  readonly client: EventStoreDBClient;
  readonly readModel: Queryable;
  readonly now: () => Date;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/** Leases indexes of an account in this book. */
export type LeaseOfAccount = (book: AccountBook, network: DepositNetwork, count: number) => Promise<readonly number[]>;

/** The indexes of all accounts. Networks with the same key share an account. */
export const depositAccounts = ({ client, readModel, now, nowMs }: DepositAccountsOptions): LeaseOfAccount => {
  const accounts = new Map<string, { lease: LeaseIndexes; book: AccountBook }>();
  const start = ({ fingerprint }: DepositNetwork['account']): LeaseIndexes => {
    const unused = unusedIndexes({
      client,
      readModel,
      account: fingerprint,
      addressesAt: (index) => {
        const sharing = accounts.get(fingerprint)!.book.networksOf(fingerprint);
        return [...new Set(sharing.map((network) => network.addressAt(index)))];
      },
    });
    return leaseIndexes({ ...accountStream(client, fingerprint, now), ...unused, nowMs });
  };
  return (book, { account }, count) => {
    const lease = accounts.get(account.fingerprint)?.lease ?? start(account);
    accounts.set(account.fingerprint, { lease, book });
    return lease(count);
  };
};

/** Reserves every index of an account up to one that received money, for nobody. Null if it was reserved before. */
export const skipUsedIndexes = (
  { client, readModel, now }: Omit<DepositAccountsOptions, 'nowMs'>,
  { fingerprint }: Pick<AccountKey, 'fingerprint'>,
  index: number,
): Promise<SkippedIndexes | null> => {
  const unused = unusedIndexes({
    client,
    readModel,
    account: fingerprint,
    addressesAt: () => [],
  });
  return skipIndexes({ ...accountStream(client, fingerprint, now), ...unused }, index);
};
