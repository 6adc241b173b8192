import type { Store } from '@cpg/shop-client';
import { SettingsStoreEntry, type TransactionalConnection } from '@vendure/core';

const PREFIX = 'crypto-payments.';

/** Keeps the values in Vendure's own table of settings, so that the plugin needs no migration. Its key and scope are
 *  unique together. */
export const createStore = (connection: TransactionalConnection, shop: string): Store => {
  const repository = () => connection.rawConnection.getRepository(SettingsStoreEntry);
  const placeOf = (name: string) => ({ key: PREFIX + name, scope: shop });
  const read = async (name: string) => {
    const entry = await repository().findOne({ where: placeOf(name) });
    return (entry?.value as { text: string } | undefined)?.text;
  };
  return {
    read,
    replace: (name, expected, next) =>
      connection.rawConnection.transaction(async (manager) => {
        const entries = manager.getRepository(SettingsStoreEntry);
        if (expected === undefined) {
          const value = { text: next } as never;
          const inserted = entries
            .createQueryBuilder()
            .insert()
            .values({ ...placeOf(name), value });
          await inserted.orIgnore().execute();
          return (await textIn(entries.findOne({ where: placeOf(name) }))) === next;
        }
        const lock = locksRows(connection) ? ({ lock: { mode: 'pessimistic_write' } } as const) : {};
        const entry = await entries.findOne({ where: placeOf(name), ...lock });
        if (entry?.value?.text !== expected) return false;
        await entries.update({ id: entry.id }, { value: { text: next } as never });
        return true;
      }),
  };
};

const textIn = async (entry: Promise<SettingsStoreEntry | null>): Promise<string | undefined> =>
  ((await entry)?.value as { text: string } | undefined)?.text;

/** SQLite has one writer at a time, and no locks of rows. */
export const locksRows = ({ rawConnection }: TransactionalConnection): boolean =>
  !/sqlite|sqljs/.test(rawConnection.options.type);
