import { fromMinor, type Payment, type Refund } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import fc from 'fast-check';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { paymentOf, projectPayment, projectRefund, refundOf } from '../../testing/jest-resources.ts';
import type { Volume } from './volume-schemas.ts';

const DECIMALS = { USDC: 6, BTC: 8 } as const;
type Currency = keyof typeof DECIMALS;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** Periods around a change of the clock. In Havana, midnight is skipped in March and comes twice in November. */
const PERIODS = [
  { timezone: 'UTC', from: '2026-03-01', to: '2026-03-31' },
  { timezone: 'America/Havana', from: '2026-03-07', to: '2026-03-09' },
  { timezone: 'America/Havana', from: '2026-10-31', to: '2026-11-02' },
  { timezone: 'America/Havana', from: '2026-11-01', to: '2026-11-01' },
  { timezone: 'Europe/Berlin', from: '2026-03-28', to: '2026-03-30' },
  { timezone: 'Australia/Lord_Howe', from: '2026-04-04', to: '2026-04-06' },
  { timezone: 'Asia/Kathmandu', from: '2026-02-27', to: '2026-03-02' },
] as const;

const HOUR_MS = 3_600_000;
const minor = fc.bigInt({ min: 0n, max: 10n ** 30n });
const currency = fc.constantFrom<Currency>('USDC', 'BTC');

/** Each half hour, from a day and a half before the period to as long after it. Half of them are near midnight. */
const timeIn = ({ timezone, from, to }: (typeof PERIODS)[number]) => {
  const [start, end] = [Date.parse(from) - 36 * HOUR_MS, Date.parse(to) + 60 * HOUR_MS];
  const times = Array.from({ length: (2 * (end - start)) / HOUR_MS }, (_, n) => start + (n * HOUR_MS) / 2);
  const hours = new Intl.DateTimeFormat('en', { timeZone: timezone, hour: 'numeric', hourCycle: 'h23' });
  const midnights = times.filter((time) => ['23', '00', '01'].includes(hours.format(time)));
  return fc
    .tuple(fc.oneof(fc.constantFrom(...times), fc.constantFrom(...midnights)), fc.constantFrom(-1, 0))
    .map(([time, ms]) => new Date(time + ms).toISOString());
};

const shopIn = (period: (typeof PERIODS)[number]) =>
  fc.record({
    period: fc.constant(period),
    payments: fc.array(
      fc.record({
        at: timeIn(period),
        currency,
        status: fc.constantFrom('applied', 'applied', 'orphan', 'refunded', 'received'),
        ...{ applied: minor, fee: minor, refunded: fc.option(minor, { nil: undefined }) },
      }),
      { minLength: 10, maxLength: 60 },
    ),
    refunds: fc.array(
      fc.record({
        ...{ at: timeIn(period), endedAt: timeIn(period), currency, amount: minor },
        status: fc.constantFrom('recorded', 'settled', 'pending', 'sent', 'canceled'),
      }),
      { minLength: 10, maxLength: 60 },
    ),
  });

const everything = async <Item>(shop: TestMerchant, path: string): Promise<Item[]> => {
  const items: Item[] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await shop.send('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100${cursor}`);
    expect(status).toBe(200);
    items.push(...body.items);
    if (body.next_cursor === undefined) return items;
    cursor = `&cursor=${body.next_cursor}`;
  }
};

/** The day of a time on the calendar of JavaScript, not of PostgreSQL. */
const dayIn = (timezone: string, at: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short' }).format(new Date(at));

const unitsOf = (amount = '0') => {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(18, '0'));
};
const sum = (amounts: readonly (string | undefined)[]) => amounts.reduce((total, one) => total + unitsOf(one), 0n);

const sumsOf = (payments: readonly Payment[], refunds: readonly Refund[]) => ({
  count: payments.length,
  applied: sum(payments.map((payment) => payment.applied_amount)),
  fee: sum(payments.map((payment) => payment.fee_amount)),
  refunded: sum(payments.map((payment) => payment.refunded_amount)),
  refunds: refunds.length,
  refund: sum(refunds.map(({ amount }) => amount)),
});

const reported = (sums: Volume['totals'][number]) => ({
  count: sums.count,
  applied: unitsOf(sums.applied_amount),
  fee: unitsOf(sums.fee_amount),
  refunded: unitsOf(sums.refunded_amount),
  refunds: sums.refunds.count,
  refund: unitsOf(sums.refunds.amount),
});

test.each(PERIODS)('in $timezone from $from to $to, each sum is that of the lists', async (period) => {
  await fc.assert(
    fc.asyncProperty(shopIn(period), async ({ payments, refunds }) => {
      const shop = await gateway.merchant();
      for (const { at, applied, fee, refunded, ...more } of payments) {
        const amount = (value: bigint) => fromMinor(value, DECIMALS[more.currency]);
        const { refunded_amount: _, ...payment } = paymentOf(`pay_${newUlid()}`, shop.id, {
          ...more,
          ...{ created_at: at, applied_amount: amount(applied), fee_amount: amount(fee) },
        });
        await projectPayment(gateway.pool, {
          ...payment,
          ...(refunded !== undefined && { refunded_amount: amount(refunded) }),
        });
      }
      for (const { at, endedAt, amount, ...more } of refunds)
        await projectRefund(
          gateway.pool,
          refundOf(`rfd_${newUlid()}`, shop.id, {
            ...{ ...more, created_at: at, amount: fromMinor(amount, DECIMALS[more.currency]) },
            ...(more.status === 'settled' && { settled_at: endedAt }),
          }),
        );
      const [allPayments, allRefunds] = [
        (await everything<Payment>(shop, '/v1/payments')).filter(({ status }) => status === 'applied'),
        (await everything<Refund>(shop, '/v1/refunds')).filter(({ status }) =>
          ['recorded', 'settled'].includes(status),
        ),
      ];
      const report: Volume = (await shop.send('GET', `/v1/reports/volume?${new URLSearchParams(period)}`)).body;
      const isIn = (at: string) => dayIn(period.timezone, at) >= period.from && dayIn(period.timezone, at) <= period.to;
      const endOf = (refund: Refund) => refund.settled_at ?? refund.created_at;
      const of = <Item>(items: Item[], time: (item: Item) => string) => items.filter((item) => isIn(time(item)));
      const [paid, returned] = [of(allPayments, ({ created_at }) => created_at), of(allRefunds, endOf)];

      // By hand: every currency, and every day of it.
      const key = (day: string, of: string) => `${day} ${of}`;
      const dayOfPayment = ({ created_at, currency }: Payment) => key(dayIn(period.timezone, created_at), currency);
      const dayOfRefund = (refund: Refund) => key(dayIn(period.timezone, endOf(refund)), refund.currency);
      const days = [...new Set([...paid.map(dayOfPayment), ...returned.map(dayOfRefund)])].sort();
      expect(report.days.map((sums) => [key(sums.day, sums.currency), reported(sums)])).toEqual(
        days.map((day) => [
          day,
          sumsOf(
            paid.filter((payment) => dayOfPayment(payment) === day),
            returned.filter((refund) => dayOfRefund(refund) === day),
          ),
        ]),
      );
      const currencies = [...new Set([...paid, ...returned].map((item) => item.currency))].sort();
      expect(report.totals.map((sums) => [sums.currency, reported(sums)])).toEqual(
        currencies.map((currency) => [
          currency,
          sumsOf(
            paid.filter((payment) => payment.currency === currency),
            returned.filter((refund) => refund.currency === currency),
          ),
        ]),
      );
      // By its links.
      for (const sums of [...report.days, ...report.totals])
        expect(reported(sums)).toEqual(
          sumsOf(await everything<Payment>(shop, sums.list), await everything<Refund>(shop, sums.refunds.list)),
        );
    }),
    { numRuns: 5 },
  );
});
