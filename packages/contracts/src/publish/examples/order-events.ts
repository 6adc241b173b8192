import type { OrderMessage } from '../../topics.ts';
import {
  ASSIGNED,
  BLOCK,
  CAPABILITIES,
  CANCEL_URL,
  CREATED,
  EXPIRES,
  failedPayment,
  ITEMS,
  MERCHANT,
  OFFERED,
  ORDER,
  order,
  PAID,
  paidOrder,
  payment,
  PAYMENT,
  RATES,
  REFUND,
  REFUNDED,
  refundedPayment,
  RETURN_URL,
} from './values.ts';

type Examples = { [T in OrderMessage['type']]: Extract<OrderMessage, { type: T }>['data'] };

/** An example of `data` for every message of an order: change and resource. */
export const ORDER_EXAMPLES: Examples = {
  'order.created': {
    change: {
      orderId: ORDER,
      merchantId: MERCHANT,
      externalReferenceId: 'invoice-2026-0131',
      items: [...ITEMS],
      rails: ['crypto_deposit'],
      currency: 'USDT',
      capabilities: CAPABILITIES,
      rates: RATES,
      totalMinor: '14030000',
      expirationMinutes: 60,
      expiresAt: EXPIRES,
      returnUrl: RETURN_URL,
      cancelUrl: CANCEL_URL,
      instructions: [ASSIGNED],
      status: 'awaiting_payment',
      reason: 'created',
      at: CREATED,
    },
    resource: order(),
  },
  'order.instructed': {
    change: { instructions: [ASSIGNED], status: 'awaiting_payment', reason: 'instructed', at: CREATED },
    resource: order(),
  },
  'order.payment_received': {
    change: { payment: OFFERED, confirmed: false, at: PAID },
    resource: order({ payments: [payment()] }),
  },
  'order.payment_confirmed': {
    change: { paymentId: PAYMENT, confirmations: 20, confirmedAt: PAID, at: PAID },
    resource: order({ payments: [payment({ confirmations: 20 })] }),
  },
  'order.payment_block_changed': {
    change: { paymentId: PAYMENT, block: BLOCK, confirmations: 1, blockChanges: 1, changedAt: PAID, at: PAID },
    resource: order({ payments: [payment({ confirmations: 1, block: BLOCK, updated_at: PAID })] }),
  },
  'order.payments_applied': {
    change: {
      allocations: [{ paymentId: PAYMENT, appliedMinor: '14030000', unappliedMinor: '0' }],
      status: 'paid',
      reason: 'payment_applied',
      at: PAID,
    },
    resource: paidOrder(),
  },
  'order.payments_orphaned': {
    change: { paymentIds: [PAYMENT], orphanReason: 'late', at: PAID },
    resource: order({ status: 'expired', payments: [payment({ status: 'orphan', orphan_reason: 'late' })] }),
  },
  'order.payment_failed': {
    change: {
      paymentId: PAYMENT,
      failureReason: 'dropped from the chain',
      status: 'awaiting_payment',
      reason: 'payment_failed',
      at: PAID,
    },
    resource: order({ payments: [failedPayment()] }),
  },
  'order.payment_reinstated': {
    change: { paymentId: PAYMENT, sighting: 2, reinstatedAt: PAID, confirmed: false, at: PAID },
    resource: order({ payments: [payment({ updated_at: PAID })] }),
  },
  'order.payment_refunded': {
    change: {
      paymentId: PAYMENT,
      refundId: REFUND,
      refundedTotalMinor: '14030000',
      refundedAt: REFUNDED,
      status: 'reversed',
      reason: 'refunded',
      at: REFUNDED,
    },
    resource: order({ status: 'reversed', payments: [refundedPayment()], updated_at: REFUNDED }),
  },
  'order.paid': { change: { reason: 'payment_applied', at: PAID }, resource: paidOrder() },
  'order.updated': {
    change: { metadata: { table: 12 }, at: PAID },
    resource: order({ metadata: { table: 12 }, updated_at: PAID }),
  },
  'order.renewed': {
    change: { rates: RATES, totalMinor: '14030000', expiresAt: EXPIRES, renewal: 1, at: PAID },
    resource: order({ updated_at: PAID }),
  },
  'order.time_advanced': {
    change: { minutes: 45, expiresAt: '2026-01-31T12:15:00.000Z', at: PAID },
    resource: order({ expiration_date: '2026-01-31T12:15:00.000Z', updated_at: PAID }),
  },
  'order.expired': {
    change: { orphanedPaymentIds: [], status: 'expired', reason: 'expired', at: EXPIRES },
    resource: order({ status: 'expired', updated_at: EXPIRES }),
  },
  'order.canceled': {
    change: { orphanedPaymentIds: [], status: 'canceled', reason: 'canceled_by_merchant', at: PAID },
    resource: order({ status: 'canceled', updated_at: PAID }),
  },
  'order.deleted': {
    change: {
      orderId: ORDER,
      merchantId: MERCHANT,
      actor: 'key:3b9f5c1d7e2a',
      lastHash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      sequence: 7,
      at: REFUNDED,
    },
    resource: null,
  },
};
