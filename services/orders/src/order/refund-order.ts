import {
  add,
  AppError,
  derivedId,
  divideUp,
  fromMinor,
  invalidRequest,
  type ItemCurrency,
  multiply,
  type OrderEvent,
  type OrderRefund,
  parseDecimal,
  parsePositiveAmount,
  priceDecimals,
  type RefundableOfOrder,
  type RefundCurrency,
  toMinorRoundedUp,
  withoutUndefined,
} from '@cpg/contracts';
import type { CommandOf } from './command.ts';
import { type ExistingOrder, isOpen, type OrderRefundState } from './state.ts';

interface PaymentLeft {
  readonly paymentId: string;
  /** What is left of its applied amount. Not negative. */
  readonly leftMinor: bigint;
}

/** Bounds the events of an order and its payments. */
const MAX_ORDER_REFUNDS = 100;

/** Records the refund of an order, and what of it each payment pays back: the newest payment first, each up to what is
 *  left of its applied amount. A surplus is never taken: it is due back by itself. The payments record their parts
 *  afterwards. Ignores a repeated id. */
export const refundOrder = (command: CommandOf<'RefundOrder'>, order: ExistingOrder): OrderEvent[] => {
  const { orderRefundId, amount, currency = order.currency, reason, refundable, at } = command;
  if (order.refunds.some((refund) => refund.orderRefundId === orderRefundId)) return [];
  if (isOpen(order))
    throw new AppError(
      'order_state_conflict',
      `an order that is ${order.status} still takes payments: cancel it, and then refund its payments`,
    );
  if (order.refunds.length >= MAX_ORDER_REFUNDS)
    throw new AppError(
      'order_state_conflict',
      `the order already has ${MAX_ORDER_REFUNDS} refunds: refund its payments with POST /v1/payments/{id}/refund`,
    );
  const left = paymentsLeft(order, refundable);
  const leftMinor = left.reduce((sum, payment) => sum + payment.leftMinor, 0n);
  const openRefund = refundable.find((payment) => payment.open_refund !== undefined)?.open_refund;
  const amountMinor = amountToRefund(order, { amount, currency }, { leftMinor, openRefund });
  const parts = splitRefund(amountMinor, left);
  const isConverted = currency !== order.currency;
  return [
    {
      type: 'OrderRefunded',
      data: withoutUndefined({
        orderRefundId,
        amountMinor: String(amountMinor),
        requestedAmount: isConverted ? amount : undefined,
        requestedCurrency: isConverted ? (currency as ItemCurrency) : undefined,
        reason,
        parts: parts.map(({ paymentId, amountMinor: part }) => ({
          refundId: partIdOf(orderRefundId, paymentId),
          paymentId,
          amountMinor: String(part),
        })),
        at: at.toISOString(),
      }),
    },
  ];
};

/** The id of the refund of a payment that is a part of the refund of an order. A repeat finds it. */
const partIdOf = (orderRefundId: string, paymentId: string): string =>
  derivedId('refund', `${orderRefundId}\n${paymentId}`);

/** Splits an amount over payments, in the given sequence. The amount is at most what is left of all of them. */
export const splitRefund = (
  amountMinor: bigint,
  left: readonly PaymentLeft[],
): { readonly paymentId: string; readonly amountMinor: bigint }[] => {
  let rest = amountMinor;
  return left.flatMap(({ paymentId, leftMinor }) => {
    const part = leftMinor < rest ? leftMinor : rest;
    rest -= part;
    return part > 0n ? [{ paymentId, amountMinor: part }] : [];
  });
};

/** What is left of each payment, the newest first. The payments service says what is left beside the refunds that it
 *  has. Parts of earlier refunds that it does not have yet are taken too. */
const paymentsLeft = (order: ExistingOrder, refundable: RefundableOfOrder['payments']): PaymentLeft[] => {
  const parts = order.refunds.flatMap((refund) => refund.parts);
  return order.payments.toReversed().flatMap(({ paymentId }) => {
    const known = refundable.find((each) => each.payment_id === paymentId);
    if (!known) return [];
    const pendingMinor = parts
      .filter((part) => part.paymentId === paymentId && !known.recorded_parts.includes(part.refundId))
      .reduce((sum, part) => sum + part.amountMinor, 0n);
    const leftMinor = BigInt(known.left_minor) - pendingMinor;
    return leftMinor > 0n ? [{ paymentId, leftMinor }] : [];
  });
};

/** The amount of a refund in minor units of the order. An amount in an item currency is converted by the locked rate.
 *  The sum of all refunds in that currency is rounded up, not each of them, so that refunds that add up to the price
 *  add up to the total. An amount that is worth all that is left refunds all of it. `openRefund` reserves a part. */
const amountToRefund = (
  order: ExistingOrder,
  { amount, currency }: { readonly amount: string; readonly currency: RefundCurrency },
  { leftMinor, openRefund }: { readonly leftMinor: bigint; readonly openRefund: string | undefined },
): bigint => {
  const rate = currency === order.currency ? undefined : requiredRate(order, currency);
  const decimals = rate === undefined ? order.decimals : priceDecimals(currency as ItemCurrency);
  const givenMinor = parsePositiveAmount({ amount, currency }, decimals);
  if (leftMinor === 0n)
    throw new AppError(
      'nothing_to_refund',
      openRefund === undefined
        ? 'nothing that is applied to the order is left to refund. To pay back what is not applied, refund its payment: POST /v1/payments/{id}/refund'
        : `requested refunds reserve all that is left to refund: cancel ${openRefund} while it is pending to refund its amount in another way`,
    );
  const wantedMinor = rate === undefined ? givenMinor : convertedMinor(order, { amount, currency, rate });
  if (wantedMinor <= leftMinor) return wantedMinor;
  if (rate !== undefined && givenMinor <= worthMinor(leftMinor, order, { rate, decimals })) return leftMinor;
  const worths = Object.entries(order.rates)
    .filter(([each]) => each !== order.currency)
    .map(([each, { rate: locked }]) => {
      const scale = priceDecimals(each as ItemCurrency);
      return `${fromMinor(worthMinor(leftMinor, order, { rate: locked, decimals: scale }), scale)} ${each}`;
    });
  const all = `${fromMinor(leftMinor, order.decimals)} ${order.currency}`;
  const worth = worths.length > 0 ? ` (${worths.join(' or ')})` : '';
  throw new AppError(
    'refund_too_large',
    `only ${all}${worth} of what is applied to the order can still be refunded${openRefund === undefined ? '' : `, because requested refunds, as ${openRefund}, reserve the rest`}`,
  );
};

const convertedMinor = (
  order: ExistingOrder,
  { amount, currency, rate }: { readonly amount: string; readonly currency: RefundCurrency; readonly rate: string },
): bigint => {
  const earlier = order.refunds.filter((refund) => refund.requestedCurrency === currency);
  const earlierMinor = earlier.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const requested = earlier.map((refund) => parseDecimal(refund.requestedAmount!));
  const sum = requested.reduce(add, parseDecimal(amount));
  const convertedMinor = toMinorRoundedUp(multiply(sum, parseDecimal(rate)), order.decimals) - earlierMinor;
  return convertedMinor > 0n ? convertedMinor : 1n;
};

/** What an amount of the order is worth in an item currency, in its minor units with `decimals`, rounded up. */
const worthMinor = (
  minor: bigint,
  order: Pick<ExistingOrder, 'decimals'>,
  { rate, decimals }: { readonly rate: string; readonly decimals: number },
): bigint => {
  const { units, scale } = parseDecimal(rate);
  return divideUp(minor * 10n ** BigInt(scale + decimals), units * 10n ** BigInt(order.decimals));
};

const requiredRate = ({ rates, currency: coin }: ExistingOrder, currency: RefundCurrency): string => {
  const rate = (rates as Partial<Record<RefundCurrency, { readonly rate: string }>>)[currency]?.rate;
  if (rate !== undefined) return rate;
  const known = [...new Set([coin, ...Object.keys(rates)])].join(', ');
  throw invalidRequest([{ path: 'currency', message: `must be a currency of the order: ${known}` }]);
};

/** The OrderRefund resource. */
export const orderRefundView = (
  { orderRefundId, amountMinor, requestedAmount, requestedCurrency, reason, parts, at }: OrderRefundState,
  { decimals }: Pick<ExistingOrder, 'decimals'>,
): OrderRefund =>
  withoutUndefined({
    id: orderRefundId,
    amount: fromMinor(amountMinor, decimals),
    requested_amount: requestedAmount,
    requested_currency: requestedCurrency,
    reason,
    parts: parts.map((part) => ({
      refund_id: part.refundId,
      payment_id: part.paymentId,
      amount: fromMinor(part.amountMinor, decimals),
    })),
    created_at: at,
  });
