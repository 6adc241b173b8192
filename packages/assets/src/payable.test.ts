import { type AssetTable, assetsOf } from './asset-table.ts';
import { payableAssets, requirePayable } from './payable.ts';
import { readAssets } from './read-assets.ts';

const table = readAssets({ ENVIRONMENT: 'production' });

test('takes what a node relays, and not one satoshi less', () => {
  requirePayable(table, 'BTC', 1_000n);
  expect(() => requirePayable(table, 'BTC', 999n)).toThrow(
    expect.objectContaining({
      code: 'amount_too_small',
      message:
        'items: the total is 0.00000999 BTC, and crypto_deposit takes at least 0.00001000: raise it, or enable only gateway_pay',
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
  expect(payableAssets(both, 'USDC', 4_999_999n)).toEqual([both.assets[1]]);
  expect(payableAssets(both, 'USDC', 5_000_000n)).toEqual(both.assets);
  expect(payableAssets(both, 'ETH', 1n)).toEqual([]);
});

test('refuses a currency that cannot be deposited', () =>
  expect(() => requirePayable(table, 'CAZ', 10n ** 18n)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      message: 'enable_rails: crypto_deposit does not support CAZ',
    }),
  ));
