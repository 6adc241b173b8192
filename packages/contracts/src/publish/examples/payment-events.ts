import type { PaymentMessage } from '../../topics.ts';
import {
  appliedPayment,
  BLOCK,
  failedPayment,
  MERCHANT,
  ORDER,
  PAID,
  payment,
  PAYMENT,
  PROVIDER_ID,
  REFUND,
  REFUNDED,
  refundedPayment,
  SEEN,
  TX,
} from './values.ts';

type Examples = { [T in PaymentMessage['type']]: Extract<PaymentMessage, { type: T }>['data'] };

/** An example of `data` for every message of a payment: change and resource. */
export const PAYMENT_EXAMPLES: Examples = {
  'payment.received': {
    change: {
      paymentId: PAYMENT,
      merchantId: MERCHANT,
      orderId: ORDER,
      rail: 'crypto_deposit',
      providerId: PROVIDER_ID,
      currency: 'USDT',
      amountMinor: '14030000',
      feeMinor: '140300',
      feeSchedule: '1',
      confirmed: false,
      txHash: TX,
      confirmations: 0,
      seenAt: SEEN,
      at: SEEN,
    },
    resource: payment(),
  },
  'payment.confirmed': { change: { confirmations: 20, at: PAID }, resource: payment({ confirmations: 20 }) },
  'payment.block_changed': {
    change: { block: BLOCK, confirmations: 1, seenAt: SEEN, blockChanges: 1, at: PAID },
    resource: payment({ confirmations: 1, block: BLOCK, updated_at: PAID }),
  },
  'payment.applied': {
    change: { orderId: ORDER, appliedMinor: '14030000', unappliedMinor: '0', at: PAID },
    resource: appliedPayment(),
  },
  'payment.orphaned': {
    change: { orphanReason: 'late', at: PAID },
    resource: payment({ status: 'orphan', orphan_reason: 'late' }),
  },
  'payment.failed': {
    change: { failureReason: 'dropped from the chain', at: PAID },
    resource: failedPayment(),
  },
  'payment.reinstated': {
    change: { sighting: 2, seenAt: SEEN, confirmed: false, at: PAID },
    resource: payment({ updated_at: PAID }),
  },
  'payment.refunded': {
    change: {
      refundId: REFUND,
      amountMinor: '14030000',
      refundedTotalMinor: '14030000',
      reason: 'goods returned',
      at: REFUNDED,
    },
    resource: refundedPayment(),
  },
  'payment.assigned': {
    change: {
      merchantId: MERCHANT,
      orderId: ORDER,
      reason: 'the payer sent the transaction and the invoice',
      by: 'ana',
      sighting: 2,
      seenAt: SEEN,
      confirmedAt: PAID,
      at: REFUNDED,
    },
    resource: payment({ updated_at: REFUNDED }),
  },
};
