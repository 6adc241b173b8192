import type { Queryable } from '@cpg/platform/postgres';

const LIVE_SCHEMA = 'payments';

export interface ReservedIndexes {
  readonly account: string;
  readonly indexes: readonly number[];
  /** No order gets these indexes. */
  readonly skipped: boolean;
  /** The next index of the account. */
  readonly next: number;
  /** The event that reserved them. */
  readonly revision: number;
}

export const projectReservedIndexes = async (
  db: Queryable,
  { account, indexes, skipped, next, revision }: ReservedIndexes,
  schema = LIVE_SCHEMA,
): Promise<void> => {
  await db.query(
    `with ends as (
       insert into ${schema}.derivation_ends as row (id, next) values ($1, $5)
       on conflict (id) do update set next = excluded.next where row.next < excluded.next)
     insert into ${schema}.reserved_indexes as row (id, account, index, revision, skipped)
     select $1 || '/' || index, $1, index, $3, $4 from unnest($2::bigint[]) as index
     on conflict (id) do update set revision = excluded.revision where row.revision < excluded.revision`,
    [account, indexes, revision, skipped, next],
  );
};

/** The lowest indexes that were reserved last by `revision` or earlier, and that orders may get. */
export const reservedIndexes = async (
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
export const highestAssignedIndex = async (db: Queryable, account: string): Promise<number> => {
  const { rows } = await db.query<{ highest: string | null }>(
    'select max(index) as highest from payments.payables where account = $1',
    [account],
  );
  return Number(rows[0]!.highest ?? -1);
};

/** The highest index of an address that may have no event; -1 if there is none. */
export const highestUnrecordedIndex = async (db: Queryable, account: string): Promise<number> => {
  const { rows } = await db.query<{ highest: string | null }>(
    'select max(index) as highest from payments.deposit_addresses where account = $1',
    [account],
  );
  return Number(rows[0]!.highest ?? -1);
};

/** Those of the addresses that were ever shown, or that received money. */
export const usedAddresses = async (db: Queryable, addresses: readonly string[]): Promise<ReadonlySet<string>> => {
  const { rows } = await db.query<{ address: string }>(
    `select address from payments.payables where address = any($1)
     union all select address from payments.deposit_addresses where address = any($1)
     union all select address from payments.chain_cursors join payments.chain_transfers using (network)
     where address = any($1)`,
    [addresses],
  );
  return new Set(rows.map(({ address }) => address));
};
