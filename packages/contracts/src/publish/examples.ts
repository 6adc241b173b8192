import type { z } from 'zod';
import type { AssignedInstruction, OfferedPayment } from '../order-events.ts';
import type { Order, Payment, Rates } from '../resources.ts';
import type { DomainMessage } from '../topics.ts';
import { dataSchemaOf } from './names.ts';

/** A `data` of every message type, out of the life of one order of 250.00 MXN, to be paid with 14.03 USDT. */
export const exampleData = (): { [T in DomainMessage['type']]: Extract<DomainMessage, { type: T }>['data'] } => ({
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
  'order.payment_refunded': {
    change: {
      paymentId: PAYMENT,
      refundId: REFUND,
      refundedTotalMinor: '14030000',
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
});

/** An example of the whole message around an example's data. */
export const exampleMessage = <T extends DomainMessage['type']>(type: T) => ({
  specversion: '1.0' as const,
  id: 'evt_01KGA4T3G6Z5Y7X9W1V3T5R7Q9',
  source: type.startsWith('order.') ? '/orders' : '/payments',
  type,
  subject: type.startsWith('order.') ? ORDER : PAYMENT,
  time: exampleData()[type].change.at,
  datacontenttype: 'application/json' as const,
  dataschema: dataSchemaOf(type),
  sequence: '3',
  correlationid: 'req_01KGA4S9HNRV4Q0K2M8B6D1C3F',
  causationid: 'evt_01KGA4T2B4A6C8E0G2J4M6P8R0',
  merchantid: MERCHANT,
  orderid: ORDER,
  data: exampleData()[type],
});

const MERCHANT = 'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K';
const ORDER = 'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D';
const PAYMENT = 'pay_01KGA4T1C2E4G6J8M0P2R4T6V8';
const REFUND = 'rfd_01KGA5Q4J6M8P0R2T4V6X8Z0B2';
const CREATED = '2026-01-31T12:00:00.000Z';
const SEEN = '2026-01-31T12:04:10.000Z';
const PAID = '2026-01-31T12:05:00.000Z';
const EXPIRES = '2026-01-31T13:00:00.000Z';
const REFUNDED = '2026-02-02T09:30:00.000Z';
const TX = '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060';
const PROVIDER_ID = `${TX}:2`;
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const TOKEN = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const CAPABILITIES = {
  can_cancel: true,
  can_update: true,
  can_overpay: false,
  partial_payments: true,
  express_checkout: false,
  expiration_auto_renewal: false,
};
const ITEMS: Order['items'] = [{ name: 'Dinner for two', quantity: 1, unit_price: '250.00', currency: 'MXN' }];
const RATES: Rates = { MXN: { rate: '0.05612', source: 'kraken', quoted_at: CREATED, expires_at: EXPIRES } };

const ASSIGNED: z.infer<typeof AssignedInstruction> = {
  rail: 'crypto_deposit',
  currency: 'USDT',
  network: 'ethereum',
  chainId: 'eip155:1',
  asset: `eip155:1/erc20:${TOKEN}`,
  address: ADDRESS,
  decimals: 6,
  requiredConfirmations: 20,
  derivation: { fingerprint: '3442193e', path: '0/17' },
};

const OFFERED: z.infer<typeof OfferedPayment> = {
  paymentId: PAYMENT,
  rail: 'crypto_deposit',
  providerId: PROVIDER_ID,
  currency: 'USDT',
  amountMinor: '14030000',
  feeMinor: '140300',
  txHash: TX,
  confirmations: 0,
  seenAt: SEEN,
  receivedAt: SEEN,
};

const order = (differences: Partial<Order> = {}): Order => ({
  id: ORDER,
  external_reference_id: 'invoice-2026-0131',
  merchant_id: MERCHANT,
  items: ITEMS,
  payments: [],
  status: 'awaiting_payment',
  total_amount: '14.030000',
  remaining_amount: '14.030000',
  currency: 'USDT',
  rates: RATES,
  capabilities: CAPABILITIES,
  deposit_instructions: [
    {
      rail: 'crypto_deposit',
      currency: 'USDT',
      network: 'ethereum',
      chain_id: 'eip155:1',
      asset: `eip155:1/erc20:${TOKEN}`,
      address: ADDRESS,
      amount: '14.030000',
      amount_units: '14030000',
      decimals: 6,
      payment_uri: `ethereum:${TOKEN}@1/transfer?address=${ADDRESS}&uint256=14030000`,
      required_confirmations: 20,
      expires_at: EXPIRES,
    },
  ],
  expiration_date: EXPIRES,
  created_at: CREATED,
  updated_at: CREATED,
  ...differences,
});

const paidOrder = (): Order =>
  order({ status: 'paid', remaining_amount: '0.000000', payments: [appliedPayment()], updated_at: PAID });

const payment = (differences: Partial<Payment> = {}): Payment => ({
  id: PAYMENT,
  merchant_id: MERCHANT,
  order_id: ORDER,
  status: 'received',
  payment_rail: 'crypto_deposit',
  provider_id: PROVIDER_ID,
  paid_amount: '14.030000',
  fee_amount: '0.140300',
  net_amount: '13.889700',
  currency: 'USDT',
  tx_hash: TX,
  confirmations: 0,
  created_at: SEEN,
  updated_at: SEEN,
  ...differences,
});

const appliedPayment = (): Payment =>
  payment({ status: 'applied', applied_amount: '14.030000', confirmations: 20, updated_at: PAID });

const failedPayment = (): Payment =>
  payment({ status: 'failed', failure_reason: 'dropped from the chain', updated_at: PAID });

const refundedPayment = (): Payment =>
  payment({ status: 'refunded', refunded_amount: '14.030000', confirmations: 20, updated_at: REFUNDED });
