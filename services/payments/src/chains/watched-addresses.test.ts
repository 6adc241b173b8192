import { watchedAddresses, type WatchedAccount } from './watched-addresses.ts';

const account = (fingerprint: string): WatchedAccount => ({
  fingerprint,
  addressAt: (index) => `${fingerprint}/${index}`,
});

const start = () => {
  const state = { accounts: [account('a')], next: 2, others: ['of-an-earlier-key'], nowMs: 0 };
  const asked = { others: 0, next: 0 };
  const { refresh } = watchedAddresses({
    accounts: async () => state.accounts,
    nextIndex: async () => {
      asked.next += 1;
      return state.next;
    },
    otherAddresses: async () => {
      asked.others += 1;
      return state.others;
    },
    nowMs: () => state.nowMs,
  });
  return { state, asked, refresh };
};

test('watches each reserved index, and addresses of earlier keys', async () => {
  const { state, refresh } = start();
  expect([...(await refresh()).keys()]).toEqual(['of-an-earlier-key', 'a/0', 'a/1']);
  state.next = 3;
  expect((await refresh()).has('a/2')).toBe(true);
});

test('watches the addresses of a key after another one took its place', async () => {
  const { state, asked, refresh } = start();
  await refresh();
  await refresh();
  expect(asked.others).toBe(1);
  state.accounts = [account('b')];
  state.others = ['of-an-earlier-key', 'a/0'];
  const watched = await refresh();
  expect(asked.others).toBe(2);
  expect([...watched.keys()]).toEqual(['of-an-earlier-key', 'a/0', 'a/1', 'b/0', 'b/1']);
  state.nowMs = 3_600_000;
  await refresh();
  expect(asked.others).toBe(3);
});

test('calls at once share a run, and a call during a run waits for the next one', async () => {
  const { state, asked, refresh } = start();
  await Promise.all([refresh(), refresh(), refresh()]);
  expect(asked.next).toBe(1);
  const running = refresh();
  await Promise.resolve();
  await Promise.resolve();
  state.next = 5;
  const later = refresh();
  await running;
  expect((await later).has('a/4')).toBe(true);
});
