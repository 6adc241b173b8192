import { addressPool } from './address-pool.ts';

/** A counter that outlives the pools, as the database does. */
const counter = () => {
  let next = 0;
  return async (count: number) => {
    next += count;
    return next - count;
  };
};
const addressAt = (index: number) => `address-${index}`;

test('every taker gets another address, however many take at once, from however many pools', async () => {
  const reserve = counter();
  const pools = [addressPool({ reserve, addressAt }), addressPool({ reserve, addressAt })];
  const taken = await Promise.all(Array.from({ length: 100 }, (_, n) => pools[n % 2]!.take()));
  expect(new Set(taken.map(({ address }) => address)).size).toBe(100);
  expect(taken.every(({ index, address }) => address === addressAt(index))).toBe(true);
});

test('one that was not handed out is taken next', async () => {
  const pool = addressPool({ reserve: counter(), addressAt });
  const unused = await pool.take();
  pool.giveBack(unused);
  expect(await pool.take()).toEqual(unused);
});

test('an address that comes out different the second time is not handed out', async () => {
  let calls = 0;
  const pool = addressPool({ reserve: counter(), addressAt: (index) => `${index}-${(calls += 1)}` });
  await expect(pool.take()).rejects.toThrow(/came out different/);
});

test('who takes while no index can be reserved hears why, and whoever takes later is served', async () => {
  const reserve = counter();
  let away = true;
  const pool = addressPool({
    reserve: async (count) => {
      if (away) throw new Error('the database is away');
      return reserve(count);
    },
    addressAt,
  });
  await expect(pool.take()).rejects.toThrow('the database is away');
  away = false;
  expect(await pool.take()).toEqual({ index: 0, address: 'address-0' });
});
