import { Amount, PaymentCurrency, Timestamp, withExample } from '@cpg/contracts';
import { z } from 'zod';
import { Timezone } from '../timezone.ts';

export const CurrencyTotal = z.object({
  currency: PaymentCurrency.describe('The currency of the amount.'),
  amount: Amount.describe('The sum.'),
});

const LIST = 'The request that lists what is counted: its `total` is the count.';

export const CountedList = z.object({
  count: z.int().describe('How many there are.'),
  list: z.string().describe(LIST),
});

export const CountedAmounts = CountedList.extend({
  amounts: z.array(CurrencyTotal).describe('The sum for each currency. Empty if there are none.'),
});

export const AttentionReason = z.enum([
  'orphaned_payments',
  'refunds_to_send',
  'webhooks_disabled',
  'deliveries_failed',
  'keys_expiring',
  'networks_unavailable',
]);

export const Attention = z.object({
  reason: AttentionReason.describe(
    '`orphaned_payments`: money that no order took, for you to capture or refund. `refunds_to_send`: refunds that wait for your transfer. `webhooks_disabled`: the service disabled them. `deliveries_failed`: deliveries since a day ago that are not tried again. `keys_expiring`: API keys that expire within 14 days and have no successor. `networks_unavailable`: networks on which new orders cannot be paid now.',
  ),
  count: z.int().describe('How many there are, at least 1.'),
  list: z.string().describe('The request that shows them, maybe with others.'),
});

export const Overview = withExample(
  z.object({
    as_of: Timestamp.describe('When it was read.'),
    today_from: Timestamp.describe('When today began in `timezone`.'),
    taken_today: CountedAmounts.describe(
      'Payments that were first seen today and are applied to their orders, with the sums of `applied_amount`.',
    ),
    waiting: CountedList.describe('Orders that still wait for money.'),
    created: CountedList.describe('Orders that were created within the last 30 days.'),
    converted: CountedList.describe('Those of `created` that are paid. Divide both for the conversion.'),
    due_back: CountedAmounts.describe(
      'Payments of which money is to be given back, with the sums of `due_back_amount`.',
    ),
    needs_attention: z.array(Attention).describe('What waits for you. Empty if nothing does.'),
  }),
  {
    as_of: '2026-01-31T18:00:00.000Z',
    today_from: '2026-01-31T06:00:00.000Z',
    taken_today: {
      count: 2,
      list: '/v1/payments?status=applied&from_date=2026-01-31T06%3A00%3A00.000Z',
      amounts: [{ currency: 'USDC', amount: '104.944400' }],
    },
    waiting: { count: 3, list: '/v1/orders?status=initialized&status=awaiting_payment&status=partially_paid' },
    created: { count: 40, list: '/v1/orders?from_date=2026-01-01T18%3A00%3A00.000Z' },
    converted: { count: 31, list: '/v1/orders?status=paid&from_date=2026-01-01T18%3A00%3A00.000Z' },
    due_back: { count: 1, list: '/v1/payments?due_back=true', amounts: [{ currency: 'USDC', amount: '4.000000' }] },
    needs_attention: [{ reason: 'orphaned_payments', count: 1, list: '/v1/payments?status=orphan' }],
  },
);
export type Overview = z.infer<typeof Overview>;

export const getOverview = {
  operationId: 'getOverview',
  summary: 'Read what goes on',
  description:
    'Returns what a merchant looks at first: money of today, orders that wait, conversion, money to give back, and what needs attention. Each count is the `total` of the list that it names, at about the time `as_of`.',
  tags: ['Merchant'],
  querystring: z.strictObject({
    timezone: Timezone.optional().describe('The time zone in which today began, by its IANA name. By default UTC.'),
  }),
  response: { 200: Overview },
};
