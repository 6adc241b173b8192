import type { Watched } from './chain-source.ts';
import { watchedAddresses, type WatchedAccount } from './watched-addresses.ts';

const account = (fingerprint: string): WatchedAccount => ({
  fingerprint,
  addressAt: (index) => `${fingerprint}/${index}`,
});

const ALL = ['of-an-earlier-key', 'another', 'a/0', 'a/1', 'a/2', 'a/4', 'b/0', 'b/1', 'b/2'];
const watchedOf = async (watched: Promise<Watched>) => [...(await (await watched).among(ALL))];

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
  expect(await watchedOf(refresh())).toEqual(['of-an-earlier-key', 'a/0', 'a/1']);
  state.next = 3;
  expect(await watchedOf(refresh())).toContain('a/2');
});

test('watches the addresses of a key after another one took its place', async () => {
  const { state, refresh } = start();
  await refresh();
  state.accounts = [account('b')];
  state.earlier = ['of-an-earlier-key', 'a/0', 'b/9'];
  expect(await watchedOf(refresh())).toEqual(['of-an-earlier-key', 'a/0', 'a/1', 'b/0', 'b/1']);
});

test('looks for addresses of earlier keys at each call', async () => {
  const { state, refresh } = start();
  await refresh();
  state.earlier = ['of-an-earlier-key', 'another'];
  expect(await watchedOf(refresh())).toContain('another');
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
  expect(await watchedOf(later)).toContain('a/4');
});
