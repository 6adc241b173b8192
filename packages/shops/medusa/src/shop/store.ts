import type { Store } from '@cpg/shop-client';

/** What Medusa's connection to its database (knex) has to do. */
export interface Database {
  readonly raw: (
    sql: string,
    values?: readonly unknown[],
  ) => Promise<{ rows: Record<string, unknown>[]; rowCount: number }>;
  readonly transaction: <T>(work: (transaction: Database) => Promise<T>) => Promise<T>;
}

const TABLE = 'crypto_payments_values';

/** A table of the plugin in Medusa's database. It is made at the first use: a payment provider has no migrations. */
export const createStore = (database: () => Database): Store => {
  let made: Promise<unknown> | undefined;
  const run = async (sql: string, values: readonly unknown[]) => {
    // Two processes that make it at once would fail without the lock.
    made ??= database()
      .transaction(async (transaction) => {
        await transaction.raw(`select pg_advisory_xact_lock(hashtext('${TABLE}'))`);
        await transaction.raw(`create table if not exists ${TABLE} (name text primary key, text text not null)`);
      })
      .catch((error: unknown) => {
        made = undefined;
        throw error;
      });
    await made;
    return database().raw(sql, values);
  };
  return {
    read: async (name) => {
      const { rows } = await run(`select text from ${TABLE} where name = ?`, [name]);
      return rows[0]?.text as string | undefined;
    },
    replace: async (name, expected, next) => {
      const { rowCount } =
        expected === undefined
          ? await run(`insert into ${TABLE} (name, text) values (?, ?) on conflict do nothing`, [name, next])
          : await run(`update ${TABLE} set text = ? where name = ? and text = ?`, [next, name, expected]);
      return rowCount === 1;
    },
  };
};
