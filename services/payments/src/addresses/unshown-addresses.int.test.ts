import { newId } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { until } from '../testing/jest-fixtures.ts';
import { deposit } from '../testing/jest-order-events.ts';
import { log, type RailsDatabase, startRailsDatabase } from '../testing/jest-rails.ts';
import { deriveAhead, keepUnshownAddresses, unshownAddresses, type WatchedAccount } from './unshown-addresses.ts';

let rails: RailsDatabase;
let payables: ReturnType<RailsDatabase['startPayables']>;

beforeAll(async () => {
  rails = await startRailsDatabase();
  payables = rails.startPayables();
});
afterAll(async () => {
  await payables.stop();
  await rails.stop();
});

const account = (fingerprint: string): WatchedAccount => ({
  fingerprint,
  addressesAt: (index) => [`0x${fingerprint}/${index}`, `tb1${fingerprint}/${index}`],
});
const [used, unused] = [account('f00dcafe'), account('cafef00d')];
const keep = () => keepUnshownAddresses(rails.pool, [used, unused]);
const indexesOf = async ({ fingerprint }: WatchedAccount) => {
  const { rows } = await rails.pool.query<{ index: number; addresses: number }>(
    `select index::int, count(*)::int as addresses from payments.unshown_addresses where account = $1
     group by index order by index`,
    [fingerprint],
  );
  expect(rows.filter(({ addresses }) => addresses !== 2)).toEqual([]);
  return rows.map(({ index }) => index);
};
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

test('has the reserved indexes that no order shows and those ahead, also after the table was lost', async () => {
  await rails.events.reserved('f00dcafe', 0, 4);
  await until(async () => (await rails.pool.query('select from payments.derivation_ends')).rowCount);
  await keep();
  expect(await indexesOf(used)).toEqual(range(0, 1_004));
  expect(await indexesOf(unused)).toEqual(range(0, 20));

  await rails.events.created(newId('order'), [deposit('0xf00dcafe/2', 2)]);
  await rails.events.reserved('f00dcafe', 4, 2, 0);
  const isShown =
    'select from payments.reserved_indexes having count(*) = 5 and min(index) filter (where index = 5) = 5';
  await until(async () => (await rails.pool.query(isShown)).rowCount);
  const unshown = [0, 1, ...range(3, 1_006)];
  await keep();
  expect(await indexesOf(used)).toEqual(unshown);
  await rails.pool.query('truncate payments.unshown_addresses');
  await keep();
  expect(await indexesOf(used)).toEqual(unshown);

  await deriveAhead(rails.pool, used, 1_500);
  await keep();
  expect(await indexesOf(used)).toEqual([...unshown, ...range(1_500, 2_500)]);
});

test('an account that gets a network with another form of address has the addresses of all its indexes there', async () => {
  const both = account('decafbad');
  const first: WatchedAccount = { ...both, addressesAt: (index) => both.addressesAt(index).slice(0, 1) };
  await keepUnshownAddresses(rails.pool, [first]);
  await keepUnshownAddresses(rails.pool, [both]);
  expect(await indexesOf(both)).toEqual(range(0, 20));

  // As after a crash: the higher indexes were derived, and the lowest one lacks an address.
  const lowest = both.addressesAt(0)[1];
  await rails.pool.query('delete from payments.unshown_addresses where address = $1', [lowest]);
  await keepUnshownAddresses(rails.pool, [both]);
  expect(await indexesOf(both)).toEqual(range(0, 20));
});

/** A database that does something before one of its statements. */
const before = (statement: number, work: () => Promise<unknown>): Queryable => {
  let statements = 0;
  return {
    query: async (...of: Parameters<Queryable['query']>) => {
      if ((statements += 1) === statement) await work();
      return rails.pool.query(...of);
    },
  } as Queryable;
};

test.each(range(1, 7))('indexes that are reserved before statement %i are watched', async (statement) => {
  const reserving = account(`0000000${statement}`);
  const { fingerprint } = reserving;
  const reserve = async () => {
    await rails.events.reserved(fingerprint, 0, 10);
    const isReserved = 'select from payments.derivation_ends where id = $1';
    await until(async () => (await rails.pool.query(isReserved, [fingerprint])).rowCount);
  };
  await keepUnshownAddresses(before(statement, reserve), [reserving]);
  expect(await indexesOf(reserving)).toEqual(expect.arrayContaining(range(0, 20)));
});

test('an index is skipped only once the addresses ahead of it are watched', async () => {
  const receiving = { ...account('decade00'), xpub: '' };
  let skipped = 0;
  const skipUsed = (db: Queryable) =>
    unshownAddresses({
      client: rails.client,
      db,
      readAccounts: async () => [receiving],
      onSkipped: () => (skipped += 1),
      now: () => new Date(),
      log,
    }).skipUsed([{ account: 'decade00', index: 7 }]);
  const lost = async () => {
    throw new Error('the connection was lost');
  };
  for (const statement of range(1, 70)) await skipUsed(before(statement, lost)).catch(() => {});
  expect(await indexesOf(receiving)).toEqual(range(8, 1_008));
  expect(skipped).toBe(1);
  await skipUsed(rails.pool);
  expect(await indexesOf(receiving)).toEqual(range(8, 1_008));
  expect(skipped).toBe(1);
});
