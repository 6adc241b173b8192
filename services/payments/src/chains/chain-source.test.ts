import {
  ChainNodeError,
  correctedId,
  isCorrected,
  isInsideCall,
  onlyToWatched,
  type Transfer,
} from './chain-source.ts';

const transfer: Transfer = { id: '0x1:0', txHash: '0x1', address: '0xa', asset: 'eip155:1/slip44:60', units: 5n };

test.each([
  ['0x1:native1', true],
  ['0x1:native12', true],
  ['0x1:native', false],
  ['0x1:0', false],
  ['native1', false],
  [correctedId({ ...transfer, id: '0x1:native1' }), true],
  [correctedId({ ...transfer, id: '0x1:native' }), false],
])('the transfer %s is a call inside a transaction: %s', (id, expected) => expect(isInsideCall({ id })).toBe(expected));

test('a corrected transfer has an id of its own, which depends on all that can differ', () => {
  const id = correctedId(transfer);
  expect(id).toMatch(/^0x1:0:corrected:[0-9a-f]{16}$/);
  expect(correctedId({ ...transfer, txHash: 'else' })).toBe(id);
  const others = [{ units: 6n }, { address: '0xb' }, { asset: 'eip155:1/erc20:0xc' }];
  expect(new Set([id, ...others.map((change) => correctedId({ ...transfer, ...change }))]).size).toBe(4);
  expect([isCorrected({ id }), isCorrected(transfer)]).toEqual([true, false]);
});

test('the watched transfers of some are found by one question', async () => {
  const asked: (readonly string[])[] = [];
  const watched = {
    size: 1,
    watchedAmong: async (addresses: readonly string[]) => {
      asked.push(addresses);
      return new Set(['0xb']);
    },
  };
  const all = ['0xa', '0xb', '0xc', '0xb'].map((address, n) => ({ address, n }));
  expect(await onlyToWatched(all, watched)).toEqual([all[1], all[3]]);
  expect(asked).toEqual([['0xa', '0xb', '0xc', '0xb']]);
});

test('a busy node may say how long to wait', () => {
  expect(new ChainNodeError('busy', 'x', { retryAfterMs: 7 }).retryAfterMs).toBe(7);
  expect(new ChainNodeError('busy', 'x').retryAfterMs).toBeNull();
});
