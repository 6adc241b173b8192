import type { OrderMessage } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { DECIDED_AT, MERCHANT } from './jest-fixtures.ts';

/** A message on `orders.v1` as orders would publish it. */
export const orderMessage = (orderId: string, type: OrderMessage['type'], change: object): OrderMessage =>
  ({
    specversion: '1.0',
    id: newId('event'),
    source: '/orders',
    type,
    subject: orderId,
    time: DECIDED_AT,
    datacontenttype: 'application/json',
    dataschema: `urn:cpg:schemas:${type}.v1`,
    sequence: '3',
    correlationid: 'req_test',
    causationid: 'req_test',
    merchantid: MERCHANT,
    orderid: orderId,
    cpghash: 'test',
    data: { change, resource: type === 'order.deleted' ? null : sampleOrder(orderId) },
  }) as OrderMessage;

const sampleOrder = (id: string) => ({
  id,
  external_reference_id: 'cart-1',
  merchant_id: MERCHANT,
  items: [],
  item_totals: {},
  payments: [],
  status: 'paid',
  total_amount: '10.000000',
  remaining_amount: '0.000000',
  currency: 'USDC',
  rates: {},
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
  deposit_instructions: [],
});
