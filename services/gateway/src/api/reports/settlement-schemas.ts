import { Balances, LedgerAccount, OrderId, pageOf, PaymentCurrency, PaymentId, SettlementLine } from '@cpg/contracts';
import { z } from 'zod';
import { idParameter } from '../ids.ts';
import { Instant, ListQuery } from '../lists/list-query.ts';
import { Timezone } from '../timezone.ts';
import { Day } from './volume-schemas.ts';

const tags = ['Merchant'];

export const SettlementPage = pageOf(SettlementLine);

const SettlementQuery = z.strictObject({
  ...ListQuery.shape,
  currency: PaymentCurrency.optional().describe('Only lines in this currency.'),
  account: LedgerAccount.optional().describe('Only lines of this account.'),
  payment_id: idParameter('payment', PaymentId).optional().describe('Only lines of this payment.'),
  order_id: idParameter('order', OrderId).optional().describe('Only lines of payments of this order.'),
});
export type SettlementQuery = z.infer<typeof SettlementQuery>;

export const listSettlementLines = {
  operationId: 'listSettlementLines',
  summary: 'List the lines of the settlement report',
  description:
    'Lists every movement of your money as double-entry bookkeeping: one line for each account that an event changes, sorted by the time of the event. The amounts of an entry add up to zero, and the lines of an account to its balance. A line never changes, and a correction is a line of its own. The lines of a deleted order stay, without `external_reference_id`, `tx_hash` and the value at the sale. A decision on a payment keeps the time at which it was made: after an outage, a line can appear as much later than its `booked_at` as the outage lasted. Stop when `page >= totalPages`.',
  tags,
  querystring: SettlementQuery,
  response: { 200: SettlementPage },
};

export const ExportQuery = z.strictObject({
  from: Day.describe('The first day.'),
  to: Day.describe('The last day.'),
  timezone: Timezone.optional().describe('The time zone of the days, by its IANA name. By default UTC.'),
  currency: PaymentCurrency.optional().describe('Only lines in this currency.'),
});
export type ExportQuery = z.infer<typeof ExportQuery>;

export const exportSettlements = {
  operationId: 'exportSettlements',
  summary: 'Download the settlement report as CSV',
  description:
    "Streams the lines of a period, oldest first, as CSV (RFC 4180, UTF-8) with a header. The columns are the fields of `SettlementLine`; columns may be added at the end. A reference that a spreadsheet would run as a formula starts with a `'`. If a response ends early, its last chunk is missing: discard the file.",
  tags,
  querystring: ExportQuery,
  produces: ['text/csv'],
  response: { 200: z.string().describe('The report.') },
};

const BalancesQuery = z.strictObject({
  at: Instant.optional().describe('Only lines that were booked before this time. By default now.'),
});

export const getBalances = {
  operationId: 'getBalances',
  summary: 'Read the balances of your accounts',
  description:
    'Sums the lines of the settlement report that were booked before a time, by currency and account. `net` and `fee` together are what counts for orders; `surplus` and `orphan` are due back, if they can be paid.',
  tags,
  querystring: BalancesQuery,
  response: { 200: Balances },
};
