import {
  AcceptOrder,
  AmountDto,
  CancelOrderDto,
  HistoryEntry,
  invalidRequest,
  MAX_FILTERED_KEYS,
  MerchantCreateOrderDto,
  Order,
  OrderDeletion,
  OrderRefund,
  OrderStatus,
  pageOf,
  PaymentCurrency,
  RefundCurrency,
  requestText,
  UpdateOrderDto,
  withExample,
} from '@cpg/contracts';
import { z } from 'zod';
import { NoBody, pathId } from '../ids.ts';
import { Instant, ListQuery, oneOrMore, timeRange, wholeNumber } from '../lists/list-query.ts';
import { SEARCH_FORMS } from './order-search.ts';

export const OrderPage = pageOf(Order);

const OrderListQuery = z
  .strictObject({
    ...ListQuery.shape,
    status: oneOrMore(OrderStatus)
      .optional()
      .describe('Only orders with this status. Repeat the parameter for several: `status=paid&status=expired`.'),
    external_reference_id: requestText(1, 128)
      .optional()
      .describe('Only orders with exactly this `external_reference_id`.'),
    currency: PaymentCurrency.optional().describe('Only orders that are paid in this currency.'),
    search: z
      .preprocess((text) => (typeof text === 'string' ? text.trim() : text), requestText(1, 128))
      .optional()
      .describe(
        `Finds orders by exact match. The text can be: ${SEARCH_FORMS}. Text without one of the other forms is a reference. Letters of an address or a hash may be upper or lower case.`,
      )
      .meta({ examples: ['0x9858EfFD232B4033E47d90003D41EC34EcaEda94'] }),
    metadata: z
      .record(z.string(), z.string())
      .refine((entries) => Object.keys(entries).length === 1, {
        error: 'must have one key, like `metadata.table=B7`: filter by one key at a time',
      })
      .optional()
      .describe(
        `Only orders whose \`metadata\` has this value at this key, for example \`metadata.table=B7\`, or \`metadata=table=B7\` with the second \`=\` encoded (\`%3D\`), as clients made from this document send it. For one key. The value is exact: text, a number as JSON writes it, \`true\` or \`false\`. Of an order, the first ${MAX_FILTERED_KEYS} keys with such values are found.`,
      ),
    ...timeRange('updated', 'orders', 'changed last'),
    min_amount: AmountDto.optional().describe('Only orders with at least this `total_amount`. Needs `currency`.'),
  })
  .refine(({ min_amount, currency }) => min_amount === undefined || currency !== undefined, {
    path: ['min_amount'],
    error: 'needs `currency`: only amounts in one currency can be compared',
  });

/** Gathers the parameters `metadata.<key>=<value>` and `metadata=<key>=<value>` of a query in one object. Throws
 *  `invalid_request` for a key in both spellings, and for `metadata` without a key. */
export const gatherMetadata = (query: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const gathered: Record<string, unknown> = {};
  const metadata = new Map<string, unknown>();
  for (const [name, given] of Object.entries(query)) {
    const [, key, value] =
      (name === 'metadata' ? /^([^=]+)=(.*)$/s.exec(String(given)) : /^metadata\.(.+)$/s.exec(name)) ?? [];
    const isMisspelled = (name === 'metadata' && key === undefined) || name.startsWith('metadata[');
    if (isMisspelled || (key !== undefined && metadata.has(key)))
      throw invalidRequest([{ path: name, message: 'write `metadata.key=value`, once' }]);
    if (key === undefined) gathered[name] = given;
    else metadata.set(key, value ?? given);
  }
  return metadata.size > 0 ? { ...gathered, metadata: Object.fromEntries(metadata) } : gathered;
};

const StateQuery = z.strictObject({
  at: Instant.optional().describe(
    'Return the order as it was recorded at this time. At the `updated_at` of an answer or a webhook, it is the order in that answer. By default, the current state.',
  ),
});

const HistoryQuery = z.strictObject({
  limit: wholeNumber(100, 100).describe(
    'Maximum number of events per page. By default 100. A page of large events has fewer.',
  ),
  cursor: requestText(1, 128).optional().describe('Returns the page after the one with this `next_cursor`.'),
});

export const OrderHistoryPage = z.object({
  items: z.array(HistoryEntry).describe('Recorded events, oldest first.'),
  next_cursor: z.string().optional().describe('The `cursor` of the next page. Absent on the last page.'),
});

const params = pathId('order');
const tags = ['Orders'];

export const createOrder = {
  operationId: 'createOrder',
  summary: 'Create an order',
  description:
    'Creates an order, locks the exchange rates of the item currencies, and computes the amount due in `payment_currency`. The response contains the deposit instructions. The status is `awaiting_payment`, or `initialized` while a payment provider has not yet returned its instructions. A repeat with the same `Idempotency-Key` returns the order as it was right after its creation, even while the first request is running. `enable_rails`, `payment_currency` and `capabilities` may be left out where the merchant has `order_defaults`; what the request has counts. A refused create stores nothing: its repeat is decided anew. A key that created an order is refused for other requests with 422.',
  tags,
  body: MerchantCreateOrderDto,
  response: { 201: Order },
};

export const listOrders = {
  operationId: 'listOrders',
  summary: 'List orders',
  description:
    'Lists the orders of the merchant, sorted by creation time. All filters that are given apply together. Stop when `page >= totalPages`.',
  tags,
  querystring: OrderListQuery,
  response: { 200: OrderPage },
};

export const getOrder = {
  operationId: 'getOrder',
  summary: 'Retrieve an order',
  description:
    'Returns the current state of an order, or its state at the time `at`. Returns 404 `not_found` if the order did not exist at that time.',
  tags,
  params,
  querystring: StateQuery,
  response: { 200: Order },
};

export const listOrderHistory = {
  operationId: 'listOrderHistory',
  summary: 'List the history of an order',
  description:
    'Lists all recorded events of the order and its payments, oldest first. Each event says what happened, when, who caused it, in which request, and which event or request led to it. `data` names its fields as the resources do, with decimal amounts. The events of each stream form a hash chain over their recorded form, which the operator can export: anyone who keeps a `hash` can prove later that no earlier event of its stream was changed. Stop when `next_cursor` is absent.',
  tags,
  params,
  querystring: HistoryQuery,
  response: { 200: OrderHistoryPage },
};

export const updateOrder = {
  operationId: 'updateOrder',
  summary: 'Update an order',
  description:
    'Merges `metadata` by name: a name with `null` is removed, a name that is absent stays. While the order is open, also changes `expiration_minutes`, and replaces `items` while no money was seen: they are priced with new rates, and the payer pays the new amount at the same addresses. Everything that is sent is changed, or nothing. Returns 409 `payment_in_progress` for `items` once money was seen, 409 `update_not_allowed` if the order does not have the capability `can_update`, and 422 `rate_lock_exceeded` if the deadline is later than its locked rates can hold and it does not renew.',
  tags,
  params,
  body: UpdateOrderDto,
  response: { 200: Order },
};

export const deleteOrder = {
  operationId: 'deleteOrder',
  summary: 'Delete an order',
  description:
    'Permanently deletes the order and its payment data. This cannot be undone. Returns 409 `order_has_unsettled_funds` while the order has money that is neither settled nor refunded: a payment applied to an unpaid order, also after its deadline or a reversal, a received payment, an orphan, also one beyond its maximum number of payments, a surplus that is due back, or a refund that is not settled. Repeat the request after a 503, a timeout or a broken connection: it returns 200 although the order is deleted already. After a 200, a repeat is 404.',
  tags,
  params,
  body: NoBody,
  response: { 200: OrderDeletion },
};

export const cancelOrder = {
  operationId: 'cancelOrder',
  summary: 'Cancel an order',
  description:
    'Cancels an order: it accepts no more payments, and the amount already paid is due for refund. Requires the capability `can_cancel`. With `if_unpaid`, an order is canceled only if no money was seen for it: 409 `payment_in_progress` otherwise. Canceling a canceled order changes nothing and returns the order. Returns 409 if the order is paid or expired. The body may be absent.',
  tags,
  params,
  body: CancelOrderDto.nullish(),
  response: { 201: Order },
};

export const captureOrder = {
  operationId: 'captureOrder',
  summary: 'Capture payments of an order',
  description:
    'Applies all received payments and all orphans in the currency of the order, whatever its capabilities are, while the order is open, expired or reversed. The sum of the applied payments determines the new status. Of an orphan that was refunded in part, the rest applies. A payment with 0 `confirmations`, which no block contains yet, stays `received`: it can still be replaced. An orphan with the reason `before_order` stays: somebody else sent it. So does a payment of which a requested refund is not settled. If no payment is pending, the order is returned unchanged. Returns 409 if the order is canceled, and if requested refunds pay back all that could be applied.',
  tags,
  params,
  body: NoBody,
  response: { 201: Order },
};

export const acceptOrder = {
  operationId: 'acceptOrder',
  summary: 'Accept an order as paid',
  description:
    'Settles an order with less money than its total, by your word: the order becomes `paid` with the reason `accepted_by_merchant`, and `shortfall_amount` is what is missing. At least one payment must be applied to it; capture payments that are held or orphans first. Money that arrives later is applied if it fits into the missing part. The history shows your reason, and who accepted. A paid order is returned unchanged. Returns 409 if no payment is applied, or if the order is canceled.',
  tags,
  params,
  body: AcceptOrder,
  response: { 201: Order },
};

export const RefundOrderBody = withExample(
  z.strictObject({
    amount: AmountDto.describe('The amount to refund, in `currency`.'),
    currency: RefundCurrency.optional().describe(
      'The payment currency of the order, or a currency of its items, which is converted by the locked rate. By default, the payment currency.',
    ),
    reason: requestText(1, 256).optional().describe('The reason for the refund, stored for you and for auditors.'),
  }),
  { amount: '50.00', currency: 'MXN', reason: 'one dish was not served' },
);

export const refundOrder = {
  operationId: 'refundOrder',
  summary: 'Record a refund of an order',
  description:
    'Records that you paid an amount of an order back, whatever payments it came by. It moves no money: send the money yourself. The amount is taken from what is applied to the order, the newest payment first. A surplus and orphans are never taken: they are `due_back_amount`, and are refunded by themselves. An amount in an item currency is converted by the locked rate and rounded up, never above what is left. Each part is a refund of its payment (`GET /v1/refunds`). A paid order stays `paid` until all that is applied to it is refunded; then it becomes `reversed`. Returns 409 `refund_too_large`, which names what is left in each currency, 409 `nothing_to_refund` if nothing is left, and 409 `order_state_conflict` while the order is open. Send an `Idempotency-Key`: without one, a repeated request is a second refund.',
  tags,
  params,
  body: RefundOrderBody,
  response: { 201: OrderRefund },
};
