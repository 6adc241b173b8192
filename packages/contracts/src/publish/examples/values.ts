import type { OfferedPayment } from '../../offered-payment.ts';
import type { AssignedInstruction } from '../../recorded-values.ts';
import type { Order, Rates } from '../../resources/order.ts';
import type { Payment } from '../../resources/payment.ts';

// One order of 250.00 MXN, to be paid with 14.03 USDT, and its payment.

export const MERCHANT = 'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K';
export const ORDER = 'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D';
export const PAYMENT = 'pay_01KGA4T1C2E4G6J8M0P2R4T6V8';
export const REFUND = 'rfd_01KGA5Q4J6M8P0R2T4V6X8Z0B2';
export const CREATED = '2026-01-31T12:00:00.000Z';
export const SEEN = '2026-01-31T12:04:10.000Z';
export const PAID = '2026-01-31T12:05:00.000Z';
export const EXPIRES = '2026-01-31T13:00:00.000Z';
export const REFUNDED = '2026-02-02T09:30:00.000Z';
export const TX = '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060';
export const BLOCK = {
  height: 24_301_577,
  hash: '0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6',
};
export const PROVIDER_ID = `${TX}:2`;
export const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
export const TOKEN = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
export const RETURN_URL = 'https://lafonda.example/thanks?table=B7';
export const CANCEL_URL = 'https://lafonda.example/cart';
export const CAPABILITIES = {
  can_cancel: true,
  can_update: true,
  can_overpay: false,
  partial_payments: true,
  express_checkout: false,
  expiration_auto_renewal: false,
};
export const ITEMS: Order['items'] = [{ name: 'Dinner for two', quantity: 1, unit_price: '250.00', currency: 'MXN' }];
export const RATES: Rates = { MXN: { rate: '0.05612', source: 'kraken', quoted_at: CREATED, expires_at: EXPIRES } };

export const ASSIGNED: AssignedInstruction = {
  rail: 'crypto_deposit',
  currency: 'USDT',
  network: 'ethereum',
  chainId: 'eip155:1',
  asset: `eip155:1/erc20:${TOKEN}`,
  address: ADDRESS,
  decimals: 6,
  currencyDecimals: 6,
  requiredConfirmations: 20,
  derivation: { fingerprint: '3442193e', path: '0/17' },
};

export const OFFERED: OfferedPayment = {
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

export const order = (differences: Partial<Order> = {}): Order => ({
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
  return_url: RETURN_URL,
  cancel_url: CANCEL_URL,
  created_at: CREATED,
  updated_at: CREATED,
  ...differences,
});

export const paidOrder = (): Order =>
  order({ status: 'paid', remaining_amount: '0.000000', payments: [appliedPayment()], updated_at: PAID });

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
  tx_hash: TX,
  confirmations: 0,
  created_at: SEEN,
  updated_at: SEEN,
  ...differences,
});

export const appliedPayment = (): Payment =>
  payment({ status: 'applied', applied_amount: '14.030000', confirmations: 20, updated_at: PAID });

export const failedPayment = (): Payment =>
  payment({ status: 'failed', failure_reason: 'dropped from the chain', updated_at: PAID });

export const refundedPayment = (): Payment =>
  payment({ status: 'refunded', refunded_amount: '14.030000', confirmations: 20, updated_at: REFUNDED });
