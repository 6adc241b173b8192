import type { PaymentMessage } from '../topics.ts';
import {
  appliedPayment,
  ASSET,
  BLOCK,
  confirmedPayment,
  LATER_BLOCK,
  LATER,
  MINED_AGAIN,
  orphanedPayment,
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
  RETURNED,
  SEEN,
  TX,
} from './values.ts';

type Examples = {
  [T in PaymentMessage['type']]: Pick<PaymentMessage, 'sequence'> & Extract<PaymentMessage, { type: T }>['data'];
};

/** An example of every message of a payment: its sequence, change and resource, as those of orders. */
export const PAYMENT_EXAMPLES: Examples = {
  'payment.received': {
    sequence: '0',
    change: {
      paymentId: PAYMENT,
      merchantId: MERCHANT,
      orderId: ORDER,
      rail: 'crypto_deposit',
      providerId: PROVIDER_ID,
      currency: 'USDT',
      decimals: 6,
      amountMinor: '14030000',
      feeMinor: '140300',
      feeSchedule: '1',
      confirmed: false,
      asset: ASSET,
      txHash: TX,
      block: BLOCK,
      confirmations: 1,
      seenAt: SEEN,
      at: SEEN,
    },
    resource: payment(),
  },
  'payment.confirmed': {
    sequence: '1',
    change: { confirmations: 20, seenAt: SEEN, at: PAID },
    resource: confirmedPayment(),
  },
  'payment.block_changed': {
    sequence: '1',
    change: { block: LATER_BLOCK, confirmations: 1, seenAt: SEEN, blockChanges: 1, at: MINED_AGAIN },
    resource: payment({ block: LATER_BLOCK, updated_at: MINED_AGAIN }),
  },
  'payment.applied': {
    sequence: '2',
    change: { orderId: ORDER, appliedMinor: '14030000', unappliedMinor: '0', at: PAID },
    resource: appliedPayment(),
  },
  'payment.orphaned': {
    sequence: '2',
    change: { orphanReason: 'canceled', at: LATER },
    resource: orphanedPayment(),
  },
  'payment.failed': {
    sequence: '1',
    change: { failureReason: 'dropped from the chain', seenAt: SEEN, at: PAID },
    resource: failedPayment(),
  },
  'payment.reinstated': {
    sequence: '2',
    change: {
      sighting: 2,
      seenAt: SEEN,
      confirmed: false,
      confirmations: 1,
      block: LATER_BLOCK,
      blockChanges: 1,
      at: LATER,
    },
    resource: payment({ block: LATER_BLOCK, updated_at: LATER }),
  },
  'payment.refunded': {
    sequence: '3',
    change: {
      refundId: REFUND,
      amountMinor: '14030000',
      refundedTotalMinor: '14030000',
      reason: 'goods returned',
      ...RETURNED,
      at: REFUNDED,
    },
    resource: refundedPayment(),
  },
  'payment.assigned': {
    sequence: '2',
    change: {
      merchantId: MERCHANT,
      orderId: ORDER,
      reason: 'the payer sent the transaction and the invoice',
      by: 'ana',
      sighting: 2,
      seenAt: SEEN,
      confirmedAt: SEEN,
      at: REFUNDED,
    },
    resource: confirmedPayment({ updated_at: REFUNDED }),
  },
};
