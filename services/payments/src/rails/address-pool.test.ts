import { addressPool } from './address-pool.ts';

/** A counter shared by all pools, like the one in the database. */
const counter = () => {
  let next = 0;
  return async (count: number) => {
    next += count;
    return next - count;
  };
};
const addressAt = (index: number) => `address-${index}`;

test('never returns an address twice to concurrent callers of two pools', async () => {
  const reserve = counter();
  const pools = [addressPool({ reserve, addressAt }), addressPool({ reserve, addressAt })];
  const taken = await Promise.all(Array.from({ length: 100 }, (_, n) => pools[n % 2]!.take()));
  expect(new Set(taken.map(({ address }) => address)).size).toBe(100);
  expect(taken.every(({ index, address }) => address === addressAt(index))).toBe(true);
});

test('returns a released address next', async () => {
  const pool = addressPool({ reserve: counter(), addressAt });
  const unused = await pool.take();
  pool.release(unused);
  expect(await pool.take()).toEqual(unused);
});

test('rejects an address whose second derivation differs', async () => {
  let calls = 0;
  const pool = addressPool({ reserve: counter(), addressAt: (index) => `${index}-${(calls += 1)}` });
  await expect(pool.take()).rejects.toThrow(/differ/);
});

test('rejects while no index can be reserved, and recovers afterwards', async () => {
  const reserve = counter();
  let outage = true;
  const pool = addressPool({
    reserve: async (count) => {
      if (outage) throw new Error('the database is unavailable');
      return reserve(count);
    },
    addressAt,
  });
  await expect(pool.take()).rejects.toThrow('the database is unavailable');
  outage = false;
  expect(await pool.take()).toEqual({ index: 0, address: 'address-0' });
});
