import { watchedAddresses, type WatchedAccount } from './watched-addresses.ts';

const account = (fingerprint: string): WatchedAccount => ({
  fingerprint,
  addressAt: (index) => `${fingerprint}/${index}`,
});

const start = () => {
  const state = { accounts: [account('a')], next: 2, earlier: ['of-an-earlier-key'] };
  const asked = { next: 0 };
  const { refresh } = watchedAddresses({
    accounts: async () => state.accounts,
    nextIndex: async () => {
      asked.next += 1;
      return state.next;
    },
    earlierAddresses: async (known) => state.earlier.filter((address) => !known.includes(address.split('/')[0]!)),
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
  const { state, refresh } = start();
  await refresh();
  state.accounts = [account('b')];
  state.earlier = ['of-an-earlier-key', 'a/0', 'b/9'];
  expect([...(await refresh()).keys()]).toEqual(['of-an-earlier-key', 'a/0', 'a/1', 'b/0', 'b/1']);
});

test('looks for addresses of earlier keys at each call', async () => {
  const { state, refresh } = start();
  await refresh();
  state.earlier = ['of-an-earlier-key', 'another'];
  expect((await refresh()).has('another')).toBe(true);
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
