import { readFileSync } from 'node:fs';
import { scalesOf } from '@cpg/contracts';
import fc from 'fast-check';
import { feeOf, type FeeRule, FeeSchedule, feeScheduleIn } from './fees.ts';

const SHIPPED = new URL('../../config/fees.json', import.meta.url);
const shipped = FeeSchedule.parse(JSON.parse(readFileSync(SHIPPED, 'utf8')));

const MERCHANT = 'mer_01J0000000000000000000000C';
const scheduleOf = (rule: FeeRule): FeeSchedule => ({
  version: 'test',
  rails: { gateway_pay: rule, crypto_deposit: rule },
  merchants: {},
});
const feeFor = (amountMinor: bigint, rule: FeeRule) =>
  feeOf(scheduleOf(rule), { merchantId: MERCHANT, rail: 'gateway_pay', currency: 'USDC', decimals: 6, amountMinor });

test('the default fee is 50 basis points for gateway_pay and 100 for deposits', () => {
  const payment = { merchantId: MERCHANT, currency: 'USDC', decimals: 6, amountMinor: 100_000_000n } as const;
  expect(feeOf(shipped, { ...payment, rail: 'gateway_pay' })).toBe(500_000n);
  expect(feeOf(shipped, { ...payment, rail: 'crypto_deposit' })).toBe(1_000_000n);
});

test.each([
  [100n, 0n],
  [101n, 1n],
  [300n, 2n],
  [500n, 2n],
])('half a percent of %s is %s, rounded half-even', (amount, fee) =>
  expect(feeFor(amount, { percent_bps: 50 })).toBe(fee),
);

test('adds the fixed part, within min and max', () => {
  const rule: FeeRule = { percent_bps: 100, fixed: { USDC: '0.10' }, min: { USDC: '0.50' }, max: { USDC: '2' } };
  expect(feeFor(1_000_000n, rule)).toBe(500_000n);
  expect(feeFor(100_000_000n, rule)).toBe(1_100_000n);
  expect(feeFor(1_000_000_000n, rule)).toBe(2_000_000n);
  expect(feeFor(400_000n, rule)).toBe(400_000n);
});

test('ignores amounts of another currency', () =>
  expect(feeFor(1_000_000n, { percent_bps: 0, fixed: { USDT: '0.10' }, min: { BTC: '1' } })).toBe(0n));

test('applies special terms of a merchant on the rails they name', () => {
  const schedule = FeeSchedule.parse({
    ...shipped,
    version: '2',
    merchants: { [MERCHANT]: { gateway_pay: { percent_bps: 0 } } },
  });
  const payment = { merchantId: MERCHANT, currency: 'USDC', decimals: 6, amountMinor: 10_000n } as const;
  expect(feeOf(schedule, { ...payment, rail: 'gateway_pay' })).toBe(0n);
  expect(feeOf(schedule, { ...payment, rail: 'crypto_deposit' })).toBe(100n);
});

const SCHEDULE = feeScheduleIn(scalesOf({ CAZ_DECIMALS: 2 }));
const faultsOf = (rule: object, changes: object = {}) => {
  const rails = { ...shipped.rails, gateway_pay: rule };
  return SCHEDULE.safeParse({ ...shipped, rails, ...changes }).error?.issues.map(({ path, message }) => [
    path.join('.'),
    message,
  ]);
};

test('refuses amounts with more decimals than their currency has', () => {
  expect(
    faultsOf({ percent_bps: 1, min: { BTC: '0.00000001', USDC: '1' }, max: { USDC: '0.000001' } }),
  ).toBeUndefined();
  for (const kind of ['fixed', 'min', 'max'])
    expect(faultsOf({ percent_bps: 1, [kind]: { BTC: '0.000000001' } })).toEqual([
      [`rails.gateway_pay.${kind}.BTC`, 'BTC has 8 decimals'],
    ]);
});

test('refuses a percentage that is below 0, above 100 or no whole number of basis points', () => {
  for (const percent_bps of [0, 10_000]) expect(faultsOf({ percent_bps })).toBeUndefined();
  for (const percent_bps of [-1, 10_001, 0.5])
    expect(faultsOf({ percent_bps })).toMatchObject([['rails.gateway_pay.percent_bps', expect.any(String)]]);
});

test('refuses an empty version, one that is too long, terms under a key that is no merchant id, and unknown fields', () => {
  const rule = { percent_bps: 1 };
  expect(faultsOf(rule, { version: 'v'.repeat(64) })).toBeUndefined();
  for (const changes of [{ version: '' }, { version: 'v'.repeat(65) }, { merchants: { ana: {} } }, { fixed: {} }])
    expect(faultsOf(rule, changes)).toHaveLength(1);
});

test('refuses amounts with more decimals than the configuration gives CAZ, in the terms of a merchant too', () => {
  const merchants = { [MERCHANT]: { crypto_deposit: { percent_bps: 1, fixed: { CAZ: '0.001' } } } };
  expect(faultsOf({ percent_bps: 1, min: { CAZ: '0.01' } })).toBeUndefined();
  expect(faultsOf({ percent_bps: 1, min: { CAZ: '0.001' } }, { merchants })).toEqual([
    ['rails.gateway_pay.min.CAZ', 'CAZ has 2 decimals'],
    [`merchants.${MERCHANT}.crypto_deposit.fixed.CAZ`, 'CAZ has 2 decimals'],
  ]);
});

test('a fee is between zero and the payment, and without a cap it never falls as the payment grows', () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 24n });
  const decimal = fc.bigInt({ min: 0n, max: 10n ** 9n }).map(String);
  const rule = fc.record({
    percent_bps: fc.integer({ min: 0, max: 10_000 }),
    fixed: fc.record({ USDC: decimal }),
    min: fc.record({ USDC: decimal }),
  });
  fc.assert(
    fc.property(amount, amount, rule, (one, more, terms) => {
      const fee = feeFor(one, terms);
      expect(fee >= 0n && fee <= one).toBe(true);
      expect(feeFor(one + more, terms) >= fee).toBe(true);
    }),
  );
});
