import { type AssetTable, assetsOf } from './asset-table.ts';
import { depositInstruction } from './deposit-instruction.ts';
import { payableAssets, payableStep, requiredConfirmations, requirePayable } from './payable.ts';
import { readAssets } from './read-assets.ts';

const table = readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18 });

test('takes what a node relays, and not one satoshi less', () => {
  requirePayable(table, 'BTC', 1_000n);
  expect(() => requirePayable(table, 'BTC', 999n)).toThrow(
    expect.objectContaining({
      code: 'amount_too_small',
      message: 'items: the total is 0.00000999 BTC, and crypto_deposit takes at least 0.00001000 BTC: raise the total',
      details: [{ path: 'items', message: expect.any(String) }],
    }),
  );
});

test('takes what the cheapest network takes', () => {
  const [usdc] = assetsOf(table, 'USDC');
  const both: Pick<AssetTable, 'assets'> = {
    assets: [
      { ...usdc!, smallestPayableMinor: 5_000_000n },
      { ...usdc!, smallestPayableMinor: 10_000n },
    ],
  };
  requirePayable(both, 'USDC', 10_000n);
  expect(() => requirePayable(both, 'USDC', 9_999n)).toThrow(/at least 0\.010000/);
  const smallest = (total: bigint) => payableAssets(both, 'USDC', total).map((asset) => asset.smallestPayableMinor);
  expect(smallest(4_999_999n)).toEqual([10_000n]);
  expect(smallest(5_000_000n)).toEqual([5_000_000n, 10_000n]);
  expect(payableAssets(both, 'ETH', 1n)).toEqual([]);
});

test('larger amounts need more confirmations', () => {
  const [btc] = assetsOf(table, 'BTC');
  const needed = (amountMinor: bigint) => requiredConfirmations(btc!, amountMinor);
  expect([999_999n, 1_000_000n, 9_999_999n, 10_000_000n].map(needed)).toEqual([2, 3, 3, 6]);
  const [usdc] = assetsOf(table, 'USDC');
  expect([9_999_999_999n, 10_000_000_000n].map((minor) => requiredConfirmations(usdc!, minor))).toEqual([12, 64]);
});

test('shows the confirmations that a total needs', () => {
  expect(payableAssets(table, 'BTC', 999_999n)).toMatchObject([{ requiredConfirmations: 2 }]);
  const [asset] = payableAssets(table, 'BTC', 10_000_000n);
  expect(depositInstruction(asset!, { address: 'bc1', derivation: { fingerprint: 'f', path: '0/0' } })).toMatchObject({
    requiredConfirmations: 6,
  });
});

test('refuses a currency that cannot be deposited', () =>
  expect(() => requirePayable(table, 'CAZ', 10n ** 18n)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      message: 'enable_rails: crypto_deposit does not support CAZ',
    }),
  ));

test('a total is a multiple of the largest step of its currency', () => {
  const [eth] = assetsOf(table, 'ETH');
  const steps = [
    { ...eth!, payableStepMinor: 10n ** 8n },
    { ...eth!, payableStepMinor: 10n ** 9n },
  ];
  expect(payableStep({ assets: steps }, 'ETH', 18)).toBe(10n ** 9n);
  expect([payableStep(table, 'ETH', 18), payableStep(table, 'BTC', 8), payableStep({ assets: [] }, 'CAZ', 18)]).toEqual(
    [10n ** 10n, 1n, 10n ** 10n],
  );
});

test('an instruction records what can be paid, unless every amount can', () => {
  const recorded = (currency: 'ETH' | 'BTC' | 'USDC') =>
    depositInstruction(assetsOf(table, currency)[0]!, { address: 'a', derivation: { fingerprint: 'f', path: '0/0' } });
  expect(recorded('ETH')).toMatchObject({
    smallestPayableMinor: String(10n ** 12n),
    payableStepMinor: String(10n ** 10n),
  });
  expect(recorded('BTC')).toMatchObject({ smallestPayableMinor: '1000' });
  for (const name of ['smallestPayableMinor', 'payableStepMinor']) expect(recorded('USDC')).not.toHaveProperty(name);
});
