import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { feeOf, type FeeRule, FeeSchedule } from './fees.ts';

const SHIPPED = new URL('../../config/fees.json', import.meta.url);
const shipped = FeeSchedule.parse(JSON.parse(readFileSync(SHIPPED, 'utf8')));

const MERCHANT = 'mer_01J0000000000000000000000C';
const scheduleOf = (rule: FeeRule): FeeSchedule => ({
  version: 'test',
  rails: { gateway_pay: rule, crypto_deposit: rule },
  merchants: {},
});
const feeFor = (amountMinor: bigint, rule: FeeRule) =>
  feeOf(scheduleOf(rule), { merchantId: MERCHANT, rail: 'gateway_pay', currency: 'USDC', amountMinor });

test('the default fee is 50 basis points for gateway_pay and 100 for deposits', () => {
  const payment = { merchantId: MERCHANT, currency: 'USDC', amountMinor: 100_000_000n } as const;
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
  const payment = { merchantId: MERCHANT, currency: 'USDC', amountMinor: 10_000n } as const;
  expect(feeOf(schedule, { ...payment, rail: 'gateway_pay' })).toBe(0n);
  expect(feeOf(schedule, { ...payment, rail: 'crypto_deposit' })).toBe(100n);
});

test('refuses a schedule with more decimals than the currency has', () =>
  expect(
    FeeSchedule.safeParse({
      ...shipped,
      rails: { ...shipped.rails, gateway_pay: { percent_bps: 1, min: { BTC: '0.000000001' } } },
    }).success,
  ).toBe(false));

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
