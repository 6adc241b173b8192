import { fromMinor, type OfferedPayment, type OfferPaymentCall, type OrderEvent } from '@cpg/contracts';
import type { CreateOrder, OrderCommand } from '../order/command.ts';

export const NOON = new Date('2026-01-31T12:00:00.000Z');
export const DUE = '2026-01-31T13:00:00.000Z';

export const minutesAfterNoon = (minutes: number): Date => new Date(NOON.getTime() + minutes * 60_000);

const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, '0')}`;
const ORDER_ID = id('ord', 1);
export const MERCHANT_ID = id('mer', 1);
export const paymentId = (n: number): string => id('pay', n);

export const capabilities = {
  can_cancel: true,
  can_update: true,
  can_overpay: false,
  partial_payments: true,
  express_checkout: false,
  expiration_auto_renewal: false,
};

export const instruction = {
  rail: 'gateway_pay',
  currency: 'USDC',
  provider: 'sandbox',
  paymentReference: 'REF',
  paymentUrl: 'http://127.0.0.1:4000/pay/REF',
} as const;

/** A deposit address on this network. */
export const deposit = (network: string) =>
  ({
    rail: 'crypto_deposit',
    currency: 'USDC',
    network,
    chainId: 'eip155:1',
    asset: 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    decimals: 6,
    currencyDecimals: 6,
    requiredConfirmations: 12,
    derivation: { fingerprint: '3442193e', path: '0/17' },
  }) as const;

/** Creates an order of 10 USDC (10,000,000 minor units), due in an hour, paid in part or in full. */
export const createOrder = (
  changes: Partial<CreateOrder> & { allow?: Partial<typeof capabilities> } = {},
): CreateOrder => {
  const { allow, ...rest } = changes;
  return {
    type: 'CreateOrder',
    orderId: ORDER_ID,
    merchantId: MERCHANT_ID,
    externalReferenceId: 'cart-1',
    items: [{ name: 'tea', quantity: 1, unit_price: '10', currency: 'USDC' }],
    rails: ['gateway_pay'],
    currency: 'USDC',
    decimals: 6,
    capabilities: { ...capabilities, ...allow },
    rates: { USDC: { rate: '1', source: 'identity', quoted_at: NOON.toISOString(), expires_at: DUE } },
    totalMinor: 10_000_000n,
    expirationMinutes: 60,
    instructions: [instruction],
    at: NOON,
    ...rest,
  };
};

/** The event that `createOrder` becomes. */
export const orderCreated = (changes: Parameters<typeof createOrder>[0] = {}): OrderEvent => {
  const { type: _, totalMinor, at, ...data } = createOrder(changes);
  return {
    type: 'OrderCreated',
    data: {
      ...data,
      totalMinor: String(totalMinor),
      expiresAt: DUE,
      ...(data.instructions
        ? { status: 'awaiting_payment' as const, reason: 'created' }
        : { status: 'initialized' as const, reason: 'awaiting_instructions' }),
      at: at.toISOString(),
    },
  };
};

export const payment = (n: number, amountMinor: bigint, changes: Partial<OfferedPayment> = {}): OfferedPayment => ({
  paymentId: paymentId(n),
  rail: 'gateway_pay',
  providerId: `tx-${n}`,
  currency: 'USDC',
  decimals: 6,
  amountMinor: String(amountMinor),
  feeMinor: '0',
  seenAt: NOON.toISOString(),
  receivedAt: NOON.toISOString(),
  ...changes,
});

/** The call by which payments offers that payment to its order. */
export const offerCall = (payment: OfferedPayment, confirmed: boolean): OfferPaymentCall => {
  const amount = (minor: bigint) => fromMinor(minor, payment.decimals);
  return {
    payment: {
      id: payment.paymentId,
      merchant_id: MERCHANT_ID,
      order_id: ORDER_ID,
      status: 'received',
      payment_rail: payment.rail,
      provider_id: payment.providerId,
      paid_amount: amount(BigInt(payment.amountMinor)),
      fee_amount: amount(BigInt(payment.feeMinor)),
      net_amount: amount(BigInt(payment.amountMinor) - BigInt(payment.feeMinor)),
      currency: payment.currency,
      created_at: payment.receivedAt,
      updated_at: payment.receivedAt,
    },
    seen_at: payment.seenAt,
    ...(confirmed && { confirmed_at: payment.seenAt }),
  };
};

export const offer = (
  n: number,
  amountMinor: bigint,
  options: { confirmed?: boolean; unconfirmed?: boolean; at?: Date } & Partial<OfferedPayment> = {},
): OrderCommand => {
  const { confirmed = true, unconfirmed, at = NOON, ...changes } = options;
  return {
    type: 'OfferPayment',
    payment: payment(n, amountMinor, { seenAt: at.toISOString(), ...changes }),
    confirmed,
    unconfirmed,
    at,
  };
};
