import { orderReferenceView } from '../order-reference.ts';
import { derivedId } from '../ids.ts';
import type { OfferedPayment } from '../payment-offer.ts';
import type { AssignedInstruction, RecordedPayable } from '../recorded-values.ts';
import { CAPABILITIES_EXAMPLE } from '../resources/capabilities.ts';
import type { Order, Rates } from '../resources/order.ts';
import type { Payment } from '../resources/payment.ts';

// One order of 250.00 MXN, to be paid with 14.03 USDT, and its payment.

/** How the merchant knows the order. */
export const RECORDED_REFERENCE = { externalReferenceId: 'invoice-2026-0131' };
export const REFERENCE = orderReferenceView(RECORDED_REFERENCE);
export const MERCHANT = 'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K';
export const ORDER = 'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D';
export const PAYMENT = 'pay_1C3V7TYKRH1Z37560HCG4W7W80';
export const REFUND = 'rfd_01KGA5Q4J6M8P0R2T4V6X8Z0B2';
export const ORDER_REFUND = 'orf_01KGA5Q4J6M8P0R2T4V6X8Z0B2';
/** Its part of the payment. */
export const PART = derivedId('refund', `${ORDER_REFUND}\n${PAYMENT}`);
export const CREATED = '2026-01-31T12:00:00.000Z';
export const INSTRUCTED = '2026-01-31T12:00:20.000Z';
export const SEEN = '2026-01-31T12:04:10.000Z';
export const MINED_AGAIN = '2026-01-31T12:05:00.000Z';
export const PAID = '2026-01-31T12:08:10.000Z';
/** The transaction of a refund, from the merchant's wallet to the payer's. */
export const REFUND_TX = `0x${'7e'.repeat(32)}`;
export const REFUND_ADDRESS = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
export const PAYER_ADDRESS = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
export const LATER = '2026-01-31T12:09:00.000Z';
export const ADVANCED_TO = '2026-01-31T12:15:00.000Z';
export const EXPIRES = '2026-01-31T13:00:00.000Z';
export const RENEWED_UNTIL = '2026-01-31T14:00:00.000Z';
export const CLAIM_EXPIRES = '2026-03-04T09:30:00.000Z';
export const REFUNDED = '2026-02-02T09:30:00.000Z';
export const TX = '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060';
export const BLOCK = {
  height: 24_301_577,
  hash: '0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6',
};
export const LATER_BLOCK = {
  height: 24_301_578,
  hash: '0x3fd6a0a0b5b2d13ba1e5c0bb57b0c5a4d5aef1b3fb0c4b7f3a3d64c2f4f1a7e9',
};
export const PROVIDER_ID = `eip155:1/${TX}:2`;
/** How the money of the refund went back. */
export const RETURNED = {
  txHash: '0x9fc76417374aa880d4449a1f7f31ec597f00b1f6f3dd2d66f4c9c6c445836d8b',
  network: 'ethereum',
  destination: '0x52908400098527886E0F7030069857D2E4169EE7',
};
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const TOKEN = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
export const ASSET = `eip155:1/erc20:${TOKEN}`;
export const RETURN_URL = 'https://lafonda.example/thanks?table=B7';
export const CANCEL_URL = 'https://lafonda.example/cart';
export const ITEMS: Order['items'] = [
  {
    name: 'Dinner for two',
    quantity: 1,
    unit_price: '230.00',
    currency: 'MXN',
    modifiers: [{ name: 'Service', quantity: 1, unit_price: '20.00', currency: 'MXN' }],
  },
];
export const RATES: Rates = { MXN: { rate: '0.05612', source: 'kraken', quoted_at: CREATED, expires_at: EXPIRES } };
export const RENEWED_RATES: Rates = {
  MXN: { rate: '0.05612', source: 'kraken', quoted_at: EXPIRES, expires_at: RENEWED_UNTIL },
};

export const ASSIGNED: AssignedInstruction = {
  rail: 'crypto_deposit',
  currency: 'USDT',
  network: 'ethereum',
  chainId: 'eip155:1',
  asset: ASSET,
  address: ADDRESS,
  decimals: 6,
  currencyDecimals: 6,
  requiredConfirmations: 20,
  derivation: { fingerprint: '3442193e', path: '0/17' },
};

/** The part of `ASSIGNED` that outlives its order. */
export const PAYABLE: RecordedPayable = {
  rail: 'crypto_deposit',
  network: 'ethereum',
  address: ADDRESS,
  derivation: { fingerprint: '3442193e', path: '0/17' },
};

export const OFFERED: OfferedPayment = {
  paymentId: PAYMENT,
  rail: 'crypto_deposit',
  providerId: PROVIDER_ID,
  currency: 'USDT',
  decimals: 6,
  asset: ASSET,
  amountMinor: '14030000',
  feeMinor: '140300',
  txHash: TX,
  confirmations: 1,
  block: BLOCK,
  seenAt: SEEN,
  receivedAt: SEEN,
};

type CryptoDeposit = Extract<Order['deposit_instructions'][number], { rail: 'crypto_deposit' }>;

const deposit = (differences: Partial<CryptoDeposit>): CryptoDeposit => ({
  rail: 'crypto_deposit',
  currency: 'USDT',
  network: 'ethereum',
  chain_id: 'eip155:1',
  asset: ASSET,
  address: ADDRESS,
  amount: '14.030000',
  amount_units: '14030000',
  decimals: 6,
  required_confirmations: 20,
  expires_at: EXPIRES,
  ...differences,
});

/** Where to pay the whole amount until `expires_at`. */
const openUntil = (expires_at: string): Order['deposit_instructions'] => [
  deposit({ payment_uri: `ethereum:${TOKEN}@1/transfer?address=${ADDRESS}&uint256=14030000`, expires_at }),
];

/** The order before it knows of its payment. */
export const order = (differences: Partial<Order> = {}): Order => ({
  id: ORDER,
  ...REFERENCE,
  merchant_id: MERCHANT,
  items: ITEMS,
  item_totals: { MXN: '250.00' },
  payments: [],
  status: 'awaiting_payment',
  status_reason: 'created',
  total_amount: '14.030000',
  remaining_amount: '14.030000',
  currency: 'USDT',
  rates: RATES,
  capabilities: CAPABILITIES_EXAMPLE,
  deposit_instructions: openUntil(differences.expiration_date ?? EXPIRES),
  expiration_date: EXPIRES,
  return_url: RETURN_URL,
  cancel_url: CANCEL_URL,
  created_at: CREATED,
  updated_at: CREATED,
  ...differences,
});

/** The order while its payment is on the way, or applied, or refunded: nothing more is to be paid. */
export const orderWith = (payment: Payment, differences: Partial<Order> = {}): Order =>
  order({
    payments: [payment],
    deposit_instructions: [deposit({ amount: '0.000000', amount_units: '0' })],
    updated_at: payment.updated_at,
    ...differences,
  });

/** The order after it was canceled or has expired: nothing can be paid. */
export const closedOrder = (differences: Partial<Order>): Order =>
  order({ deposit_instructions: [deposit({})], ...differences });

export const paidOrder = (): Order =>
  orderWith(appliedPayment(), {
    status: 'paid',
    status_reason: 'payment_settled',
    remaining_amount: '0.000000',
    paid_at: PAID,
  });

/** The payment as its chain first shows it. */
export const payment = (differences: Partial<Payment> = {}): Payment => ({
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
  asset: ASSET,
  applied_amount: '0.000000',
  unapplied_amount: '0.000000',
  refunded_amount: '0.000000',
  tx_hash: TX,
  confirmations: 1,
  block: BLOCK,
  created_at: SEEN,
  updated_at: SEEN,
  ...differences,
});

export const confirmedPayment = (differences: Partial<Payment> = {}): Payment =>
  payment({ confirmations: 20, updated_at: PAID, ...differences });

export const appliedPayment = (): Payment =>
  confirmedPayment({ status: 'applied', applied_amount: '14.030000', applied_at: PAID });

/** All of it is reserved by a refund that waits for its transfer. */
export const reservedPayment = (): Payment => ({ ...appliedPayment(), reserved_amount: '14.030000' });

/** Less than the total. */
export const shortPayment = (): Payment =>
  confirmedPayment({
    status: 'applied',
    paid_amount: '14.000000',
    fee_amount: '0.140000',
    net_amount: '13.860000',
    applied_amount: '14.000000',
    applied_at: PAID,
  });

export const orphanedPayment = (): Payment =>
  confirmedPayment({
    status: 'orphan',
    due_back_amount: '14.030000',
    orphan_reason: 'canceled',
    updated_at: LATER,
  });

export const failedPayment = (): Payment =>
  payment({ status: 'failed', failure_reason: 'dropped from the chain', failed_at: PAID, updated_at: PAID });

export const refundedPayment = (): Payment =>
  confirmedPayment({
    status: 'refunded',
    refunded_amount: '14.030000',
    applied_at: PAID,
    refunded_at: REFUNDED,
    updated_at: REFUNDED,
  });
