import type { Queryable } from '@cpg/platform/postgres';
import { watchedAddresses } from './watched-addresses.ts';

/** Rows that know no address. */
const db = { query: async () => ({ rows: [{ address: null, account: null, index: null }] }) } as unknown as Queryable;

const start = () => {
  const shown = new Set(['a']);
  const calls = { beyondRows: 0 };
  const { refresh } = watchedAddresses({
    db,
    beyondRows: async () => {
      calls.beyondRows += 1;
      const known = new Set(shown);
      return { has: (address) => known.has(address), from: null };
    },
    onUnshown: async () => {},
    endsBy: () => new Date(0),
  });
  return { shown, calls, refresh };
};

test('calls at once share a run, and a call during a run waits for the next one', async () => {
  const { shown, calls, refresh } = start();
  await Promise.all([refresh(), refresh(), refresh()]);
  expect(calls.beyondRows).toBe(1);
  const running = refresh();
  await Promise.resolve();
  await Promise.resolve();
  shown.add('b');
  const later = refresh();
  expect(await (await running).watchedAmong(['a', 'b'])).toEqual(new Set(['a']));
  expect(await (await later).watchedAmong(['b', 'a', 'c', 'b'])).toEqual(new Set(['a', 'b']));
});
