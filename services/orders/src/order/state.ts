import type {
  AssignedInstruction,
  Capabilities,
  Item,
  Metadata,
  OrderStatus,
  PaymentCurrency,
  PaymentRail,
  PaymentState,
  Rates,
} from '@cpg/contracts';

export interface ExistingOrder {
  readonly status: OrderStatus;
  readonly statusReason: string;
  readonly orderId: string;
  readonly merchantId: string;
  readonly externalReferenceId: string;
  readonly items: readonly Item[];
  readonly rails: readonly PaymentRail[];
  readonly currency: PaymentCurrency;
  readonly capabilities: Capabilities;
  readonly rates: Rates;
  readonly totalMinor: bigint;
  /** The price of all items at the locked rates. `totalMinor` differs from it after a renewal of a partly paid
   *  order. */
  readonly pricedMinor: bigint;
  /** `pricedMinor` at the time when a payment was applied, by payment id: it tells which part of the order the payment
   *  covers. */
  readonly pricedWhenApplied: Readonly<Record<string, bigint>>;
  readonly instructions: readonly AssignedInstruction[];
  /** Oldest first. */
  readonly payments: readonly PaymentState[];
  readonly expirationMinutes: number;
  readonly expiresAt: string;
  readonly renewals: number;
  /** Number of changes by the merchant. */
  readonly changes: number;
  readonly metadata?: Metadata | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The latest instant of all events. An event about a payment has the instant of the payment, so it may be older than
   *  the one before it. */
  readonly lastEventAt: string;
}

export type Order =
  { readonly status: 'none' } | { readonly status: 'deleted'; readonly was: ExistingOrder } | ExistingOrder;

export const MAX_RENEWALS = 24;
/** Bounds on the events of one order. Every message carries the whole order and every reader reads the whole stream, so
 *  an unbounded order would slow down all others. */
export const MAX_PAYMENTS = 250;
export const MAX_CHANGES = 1_000;

const OPEN: readonly OrderStatus[] = ['initialized', 'awaiting_payment', 'partially_paid'];

export const exists = (order: Order): order is ExistingOrder => order.status !== 'none' && order.status !== 'deleted';

/** An open order takes payments and may be canceled. */
export const isOpen = (order: ExistingOrder): boolean => OPEN.includes(order.status);

export const isExpired = (status: OrderStatus): boolean => status === 'expired' || status === 'partially_paid_expired';

/** A full order records no further payments. Their money is due for refund. */
export const isFull = ({ payments }: ExistingOrder): boolean => payments.length >= MAX_PAYMENTS;

export const findPayment = (order: ExistingOrder, paymentId: string): PaymentState | undefined =>
  order.payments.find((payment) => payment.paymentId === paymentId);

/** A held payment is received, confirmed and not yet applied. */
export const isHeld = ({ status, confirmedAt }: PaymentState): boolean =>
  status === 'received' && confirmedAt !== undefined;

/** The sum that counts towards the total. A payment that was refunded in part still counts in full; one that failed or
 *  was refunded in full does not count. */
export const appliedMinor = (order: ExistingOrder): bigint =>
  order.payments.reduce((sum, payment) => sum + payment.appliedMinor, 0n);

/** max(0, total - applied), in minor units of the order's currency. */
export const remainingMinor = (order: ExistingOrder): bigint => {
  const remaining = order.totalMinor - appliedMinor(order);
  return remaining > 0n ? remaining : 0n;
};
