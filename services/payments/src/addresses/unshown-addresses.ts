import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isTemporary } from '@cpg/contracts';
import { groupBy, type Logger } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { AccountKey } from './account-key.ts';
import { skipUsedIndexes } from './deposit-accounts.ts';
import type { DepositNetwork } from './deposit-network.ts';

/** An account whose addresses are watched. */
export interface WatchedAccount {
  /** BIP32 fingerprint. */
  readonly fingerprint: string;
  /** The addresses of an index, on all networks of the account. */
  readonly addressesAt: (index: number) => readonly string[];
}

export interface UnshownAddressesOptions {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly readAccounts: () => Promise<(WatchedAccount & Pick<AccountKey, 'xpub'>)[]>;
  /** Counts skipped indexes. */
  readonly onSkipped: () => void;
  readonly now: () => Date;
  readonly log: Logger;
}

const KEEP_EVERY_MS = 10_000;

/** The addresses of accounts that no order shows. A restored backup may lack the orders that showed them. */
export const unshownAddresses = ({ client, db, readAccounts, onSkipped, now, log }: UnshownAddressesOptions) => {
  let keptAtMs = -Infinity;
  return {
    /** Orders are found without it, so a failure stops no chain. */
    keep: async (): Promise<void> => {
      if (performance.now() - keptAtMs < KEEP_EVERY_MS) return;
      keptAtMs = performance.now();
      await readAccounts()
        .then((accounts) => keepUnshownAddresses(db, accounts))
        .catch((error: unknown) => log.warn({ err: error }, 'addresses that no order shows are not derived yet'));
    },
    /** Money at an index that was not reserved yet shows that orders were lost with a restored backup. Their indexes
     *  must not be handed out again. */
    skipUsed: async (found: readonly { readonly account: string; readonly index: number }[]): Promise<void> => {
      const accounts = await readAccounts().catch((error: unknown) => {
        if (isTemporary(error)) throw error;
        // A key that cannot be read stops no chain. No index of its account can be handed out either.
        log.error({ err: error, found }, 'indexes that received money cannot be skipped');
        return [];
      });
      for (const { account: fingerprint, index } of found) {
        const account = accounts.find((each) => each.fingerprint === fingerprint);
        if (!account) continue;
        // First: whoever finds the index skipped reads on, and the next transfer may be to one of these addresses.
        await deriveAhead(db, account, index + 1);
        const skipped = await skipUsedIndexes({ client, readModel: db, now }, account, index);
        if (!skipped) continue;
        onSkipped();
        log.error(
          { account: fingerprint, index, ...skipped },
          'money arrived at an address that was not handed out yet: its index and those before it are skipped',
        );
      }
    },
  };
};

/** Each account that ever received deposits, on all its networks. */
export const watchedAccounts = async (
  networks: readonly Pick<DepositNetwork, 'name'>[],
  accountsOf: (network: string) => Promise<DepositNetwork[]>,
): Promise<(WatchedAccount & Pick<AccountKey, 'xpub'>)[]> => {
  const receiving: DepositNetwork[] = [];
  for (const { name } of networks) receiving.push(...(await accountsOf(name)));
  return [...groupBy(receiving, ({ account }) => account.fingerprint)].map(([fingerprint, sharing]) => ({
    fingerprint,
    xpub: sharing[0]!.account.xpub,
    addressesAt: (index) => [...new Set(sharing.map((network) => network.addressAt(index)))],
  }));
};

/** How many indexes of an account are derived ahead: a restored backup may lack so many orders in a row whose payers
 *  did not pay. */
const AHEAD = 1_000;
/** For an account without reservations. Source: the gap limit of wallets, BIP44. */
const AHEAD_OF_UNUSED = 20;
/** One derivation takes about 0.2 ms. */
const BATCH = 16;

/** Keeps the addresses of reserved indexes that no order shows, and of some indexes ahead, in `unshown_addresses`. Safe
 *  to run in several processes at once. */
export const keepUnshownAddresses = async (db: Queryable, accounts: readonly WatchedAccount[]): Promise<void> => {
  await forgetShown(db);
  const byFingerprint = new Map(accounts.map((account) => [account.fingerprint, account]));
  const fingerprints = [...byFingerprint.keys()];
  // Before the reserved indexes: those that are reserved meanwhile are either lacking or ahead.
  const ends = await derivedEnds(db, fingerprints);
  for (const { account, indexes } of await lackingIndexes(db, fingerprints))
    await derive(db, byFingerprint.get(account)!, indexes);
  for (const { account, indexes } of await incompleteIndexes(db, accounts))
    await derive(db, byFingerprint.get(account)!, indexes);
  for (const { account, next, end } of ends) {
    const ahead = next === 0 ? AHEAD_OF_UNUSED : AHEAD;
    if (end < next + ahead) await derive(db, byFingerprint.get(account)!, range(Math.max(end, next), next + ahead));
  }
};

/** Derives the addresses ahead of `next` that have no row, before the projection knows of it. */
export const deriveAhead = async (db: Queryable, account: WatchedAccount, next: number): Promise<void> => {
  const { rows } = await db.query<{ index: string }>(
    `select ahead.index from generate_series($2::bigint, $3::bigint) as ahead (index)
     where not exists (
       select from payments.unshown_addresses as row where row.account = $1 and row.index = ahead.index)
     order by ahead.index`,
    [account.fingerprint, next, next + AHEAD - 1],
  );
  await derive(
    db,
    account,
    rows.map(({ index }) => Number(index)),
  );
};

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

const derive = async (db: Queryable, account: WatchedAccount, indexes: readonly number[]): Promise<void> => {
  for (let start = 0; start < indexes.length; start += BATCH) {
    const rows = indexes
      .slice(start, start + BATCH)
      .flatMap((index) => account.addressesAt(index).map((address) => ({ address, index })));
    await db.query(
      `insert into payments.unshown_addresses (address, account, index)
       select address, $1, index from unnest($2::text[], $3::bigint[]) as derived (address, index)
       on conflict do nothing`,
      [account.fingerprint, rows.map(({ address }) => address), rows.map(({ index }) => index)],
    );
    await yieldToEventLoop();
  }
};

/** An order shows each index that was reserved and is not in `reserved_indexes`: payables have its address. Skipped
 *  indexes stay there. */
const forgetShown = async (db: Queryable): Promise<void> => {
  await db.query(
    `delete from payments.unshown_addresses as row using payments.derivation_ends as ends
     where row.account = ends.id and row.index < ends.next
       and not exists (select from payments.reserved_indexes where id = row.account || '/' || row.index)`,
  );
};

/** Reserved indexes without a row, for example because the table was lost. */
const lackingIndexes = async (
  db: Queryable,
  accounts: readonly string[],
): Promise<{ account: string; indexes: number[] }[]> => {
  const { rows } = await db.query<{ account: string; indexes: string[] }>(
    `select account, array_agg(index order by index) as indexes from payments.reserved_indexes as reserved
     where account = any($1) and not exists (
       select from payments.unshown_addresses as row where row.account = reserved.account and row.index = reserved.index)
     group by account`,
    [accounts],
  );
  return rows.map(({ account, indexes }) => ({ account, indexes: indexes.map(Number) }));
};

/** The indexes of accounts that got a network with another form of address after their rows were written, the highest
 *  first: the lowest index of an account lacks an address until all of them are derived. */
const incompleteIndexes = async (
  db: Queryable,
  accounts: readonly WatchedAccount[],
): Promise<{ account: string; indexes: number[] }[]> => {
  const { rows } = await db.query<{ account: string; indexes: string[] }>(
    `select given.account, array(
       select distinct index from payments.unshown_addresses as row where row.account = given.account order by index desc
     ) as indexes
     from unnest($1::text[], $2::int[]) as given (account, addresses)
     cross join lateral (
       select index from payments.unshown_addresses as row where row.account = given.account order by index limit 1
     ) as lowest
     where (
       select count(*) from payments.unshown_addresses as row
       where row.account = given.account and row.index = lowest.index
     ) < given.addresses`,
    [accounts.map(({ fingerprint }) => fingerprint), accounts.map(({ addressesAt }) => addressesAt(0).length)],
  );
  return rows.map(({ account, indexes }) => ({ account, indexes: indexes.map(Number) }));
};

/** The next index of each account, and the index after those that were derived ahead. */
const derivedEnds = async (
  db: Queryable,
  accounts: readonly string[],
): Promise<{ account: string; next: number; end: number }[]> => {
  const { rows } = await db.query<{ account: string; next: string; end: string }>(
    `select account, coalesce(next, 0) as next,
       coalesce((select max(index) + 1 from payments.unshown_addresses as row where row.account = given.account), 0) as end
     from unnest($1::text[]) as given (account) left join payments.derivation_ends on id = account`,
    [accounts],
  );
  return rows.map(({ account, next, end }) => ({ account, next: Number(next), end: Number(end) }));
};
