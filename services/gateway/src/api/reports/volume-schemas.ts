import { Amount, PaymentCurrency, withExample } from '@cpg/contracts';
import { z } from 'zod';
import { Timezone } from '../timezone.ts';

/** A longer period is more than one request: it would read more payments than a request has time for. */
export const MAX_DAYS = 31;

export const Day = z.iso.date({ error: 'must be a date, like 2026-01-31' });

export const RefundVolume = z.object({
  count: z.int().describe('How many refunds there are.'),
  amount: Amount.describe('The sum of `amount`.'),
  list: z.string().describe('The request that lists the refunds: its `total` is `count`.'),
});

export const VolumeSums = z.object({
  currency: PaymentCurrency.describe('The currency.'),
  count: z.int().describe('How many payments there are.'),
  applied_amount: Amount.describe(
    'The sum of `applied_amount`. A refund of what is applied makes the `applied_amount` of its payment smaller.',
  ),
  fee_amount: Amount.describe('The sum of `fee_amount`: a fee belongs to the day of its payment.'),
  refunded_amount: Amount.describe('The sum of `refunded_amount`, whenever the refunds were made.'),
  list: z.string().describe('The request that lists the payments: its `total` is `count`.'),
  refunds: RefundVolume.describe(
    'The refunds that were recorded, or settled on a chain, on the day, whenever their payments were made. Refunds of orphans and of surpluses are among them.',
  ),
});

export const DayVolume = z.object({
  day: Day.describe('The day in the time zone of the report. A payment belongs to the day on which it was first seen.'),
  ...VolumeSums.shape,
});

const exampleSums = {
  currency: 'USDC' as const,
  count: 2,
  applied_amount: '104.944400',
  fee_amount: '1.049444',
  refunded_amount: '0.000000',
  list: '/v1/payments?status=applied&currency=USDC&from_date=2026-01-31T06%3A00%3A00.000Z&to_date=2026-02-01T05%3A59%3A59.999Z',
  refunds: {
    count: 1,
    amount: '10.500000',
    list: '/v1/refunds?status=recorded&status=settled&currency=USDC&ended_from=2026-01-31T06%3A00%3A00.000Z&ended_to=2026-02-01T05%3A59%3A59.999Z',
  },
};

export const Volume = withExample(
  z.object({
    from: Day.describe('The first day.'),
    to: Day.describe('The last day.'),
    timezone: z.string().describe('The time zone of the days.'),
    days: z.array(DayVolume).describe('One for each day and currency with a payment or a refund, oldest first.'),
    totals: z.array(VolumeSums).describe('The sums of all days: one for each currency.'),
  }),
  {
    from: '2026-01-31',
    to: '2026-01-31',
    timezone: 'America/Mexico_City',
    days: [{ day: '2026-01-31', ...exampleSums }],
    totals: [exampleSums],
  },
);
export type Volume = z.infer<typeof Volume>;

const VolumeQuery = z.strictObject({
  from: Day.optional().describe(`The first day. By default 13 days before the last one, and at most ${MAX_DAYS - 1}.`),
  to: Day.optional().describe('The last day. By default today.'),
  timezone: Timezone.optional().describe('The time zone of the days, by its IANA name. By default UTC.'),
});

export const getVolume = {
  operationId: 'getVolume',
  summary: 'Read the volume by day',
  description:
    'Sums the payments that are applied to orders, by the day on which they were first seen and by currency, and the refunds by the day on which they were recorded or settled. A payment that is reversed, or refunded in full, leaves its day.',
  tags: ['Merchant'],
  querystring: VolumeQuery,
  response: { 200: Volume },
};
