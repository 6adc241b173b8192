import { ACCOUNT_STREAM_PREFIX, depositsOf, DerivationIndexesReserved, isTemporary } from '@cpg/contracts';
import { appendOne, endOf, findInLog, lastEvent } from '@cpg/event-sourcing';
import type { Queryable } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { payableProjection } from '../payables/payable-projection.ts';
import { merchantOfOrder, type Payable, payableChangeAbout, receivingIndex } from '../payables/payable.ts';
import type { AccountBook } from './account-book.ts';
import type { AccountKey } from './account-key.ts';
import type { DepositNetwork } from './deposit-network.ts';
import {
  type AccountOptions,
  leaseIndexes,
  type LeaseIndexes,
  skipIndexes,
  type SkippedIndexes,
} from './lease-indexes.ts';

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

const ACTOR = 'service:payments';

/** The stream of an account's reservations. */
const accountStream = (
  client: EventStoreDBClient,
  account: string,
  now: () => Date,
): Pick<AccountOptions, 'last' | 'append'> => {
  const stream = `${ACCOUNT_STREAM_PREFIX}${account}`;
  let end = endOf(stream, null);
  return {
    last: async () => {
      const newest = await lastEvent(client, stream, DerivationIndexesReserved);
      if (!newest) return null;
      end = endOf(stream, newest);
      const { first, count } = newest.event.data;
      return { revision: newest.revision, next: first + count };
    },
    append: async ({ first, count, again, skipped }, revision) => {
      if (revision !== end.revision) throw new Error(`${stream} was not read up to ${revision}`);
      const event: DerivationIndexesReserved = {
        type: 'DerivationIndexesReserved',
        data: { account, first, count, again: [...again], ...(skipped && { skipped }), at: now().toISOString() },
      };
      const appended = await appendOne(client, stream, event, end, ACTOR);
      if (!appended) return false;
      end = appended;
      return true;
    },
  };
};

interface UnusedIndexesOptions {
  readonly client: EventStoreDBClient;
  readonly readModel: Queryable;
  /** The fingerprint of the account. */
  readonly account: string;
  /** The addresses of an index, on each network that uses the account. */
  readonly addressesAt: (index: number) => string[];
}

/** More than are asked for: rows may name indexes that were used lately. */
const SPARE = 256;

/** Finds the first unused index of an account, by the read model and the log beyond it. */
const unusedIndexes = ({
  client,
  readModel,
  account,
  addressesAt,
}: UnusedIndexesOptions): Pick<AccountOptions, 'firstIndex' | 'unusedUpTo'> => {
  const source = { client, db: readModel, projection: payableProjection(client) };
  const changeIn = (entry: AllStreamResolvedEvent) =>
    payableChangeAbout(account, entry, (orderId) => merchantOfOrder(client, orderId));

  const highestInLog = async (): Promise<number> => {
    let highest = -1;
    const inEvent = async (entry: AllStreamResolvedEvent) => {
      const change = await changeIn(entry);
      if (change && change.kind !== 'reserved') highest = Math.max(highest, ...indexesIn(change.payables, account));
      return null;
    };
    const inRows = async () => {
      highest = await highestAssignedIndex(readModel, account);
      return null;
    };
    await findInLog({ ...source, inRows, inEvent });
    return highest;
  };

  const unusedInLog = async (revision: number, count: number): Promise<number[]> => {
    const upTo = { account, revision };
    const unused = new Set<number>();
    const take = (index: number) => unused.delete(index);
    const inRows = async () => {
      for (const index of await reservedIndexes(readModel, { ...upTo, count: count + SPARE })) unused.add(index);
      return null;
    };
    const inEvent = async (entry: AllStreamResolvedEvent) => {
      const change = await changeIn(entry);
      if (change?.kind !== 'reserved') indexesIn(change?.payables ?? [], account).forEach(take);
      else if (change.account === account && change.revision > revision) change.indexes.forEach(take);
      return null;
    };
    await findInLog({ ...source, inRows, inEvent });
    return [...unused];
  };

  return {
    firstIndex: async (isNew) => {
      const unrecorded = await highestUnrecordedIndex(readModel, account);
      return 1 + Math.max(unrecorded, isNew ? await highestInLog() : -1);
    },
    unusedUpTo: async (revision, count) => {
      const candidates = await reservedIndexes(readModel, { account, revision, count: 1 });
      if (candidates.length === 0) return [];
      try {
        const unused = (await unusedInLog(revision, count)).map((index) => ({ index, addresses: addressesAt(index) }));
        const used = await usedAddresses(
          readModel,
          unused.flatMap(({ addresses }) => addresses),
        );
        return unused.filter(({ addresses }) => !addresses.some((each) => used.has(each))).map(({ index }) => index);
      } catch (error) {
        // New indexes are as good.
        if (isTemporary(error)) return [];
        throw error;
      }
    },
  };
};

const indexesIn = (payables: readonly Payable[], account: string): number[] =>
  payables.flatMap(({ instruction }) => {
    const own = depositsOf(instruction).filter(({ derivation }) => derivation.fingerprint === account);
    return own.flatMap(({ derivation }) => receivingIndex(derivation.path) ?? []);
  });

/** The lowest indexes that were reserved last by `revision` or earlier, and that orders may get. */
const reservedIndexes = async (
  db: Queryable,
  { account, revision, count }: { readonly account: string; readonly revision: number; readonly count: number },
): Promise<number[]> => {
  const { rows } = await db.query<{ index: string }>(
    `select index from payments.reserved_indexes where account = $1 and revision <= $2 and not skipped
     order by index limit $3`,
    [account, revision, count],
  );
  return rows.map(({ index }) => Number(index));
};

/** The highest index that a row of an order shows; -1 if there is none. Reads every row. */
const highestAssignedIndex = async (db: Queryable, account: string): Promise<number> => {
  const { rows } = await db.query<{ highest: string | null }>(
    'select max(index) as highest from payments.payables where account = $1',
    [account],
  );
  return Number(rows[0]!.highest ?? -1);
};

/** The highest index of an address that may have no event; -1 if there is none. */
const highestUnrecordedIndex = async (db: Queryable, account: string): Promise<number> => {
  const { rows } = await db.query<{ highest: string | null }>(
    'select max(index) as highest from payments.deposit_addresses where account = $1',
    [account],
  );
  return Number(rows[0]!.highest ?? -1);
};

/** Those of the addresses that were ever shown, or that received money. */
const usedAddresses = async (db: Queryable, addresses: readonly string[]): Promise<ReadonlySet<string>> => {
  const { rows } = await db.query<{ address: string }>(
    `select address from payments.payables where address = any($1)
     union all select address from payments.deposit_addresses where address = any($1)
     union all select address from payments.chain_cursors join payments.chain_transfers using (network)
     where address = any($1)`,
    [addresses],
  );
  return new Set(rows.map(({ address }) => address));
};
