import { type AssetTable, payableStep } from '@cpg/assets';
import type { AcceptOrderCall, CancelOrderCall, OrderCall, UpdateOrderCall } from '@cpg/contracts';
import type { CallContext } from '@cpg/platform';
import { canBeCaptured } from '../order/apply-payments.ts';
import type { OrderCommand } from '../order/command.ts';
import type { ExistingOrder } from '../order/state.ts';
import { quoteItems, type RateProvider } from '../rates/rates.ts';
import type { OrderCommands } from './order-commands.ts';
import { loadOrder, type OrderHandler } from './order-handler.ts';
import type { PaymentsClient } from './payments-client.ts';

/** What merchants change of their orders. A repeat of a request changes nothing. */
export interface OrderChanges {
  readonly capture: (orderId: string, call: OrderCall, context: CallContext) => Promise<ExistingOrder>;
  readonly accept: (orderId: string, call: AcceptOrderCall, context: CallContext) => Promise<ExistingOrder>;
  readonly cancel: (orderId: string, call: CancelOrderCall, context: CallContext) => Promise<ExistingOrder>;
  readonly update: (orderId: string, call: UpdateOrderCall, context: CallContext) => Promise<ExistingOrder>;
}

interface OrderChangesOptions {
  readonly commands: OrderCommands;
  readonly handler: OrderHandler;
  readonly payments: Pick<PaymentsClient, 'refundable' | 'unsettledPayment'>;
  readonly rates: RateProvider;
  /** How long rates may be locked, from their quote. */
  readonly rateLockMaxMinutes: number;
  readonly assets: AssetTable;
  readonly now: () => Date;
}

export const orderChanges = (options: OrderChangesOptions): OrderChanges => {
  const { commands, handler, payments, rateLockMaxMinutes, now } = options;
  const run = (orderId: string, merchantId: string, command: OrderCommand, context: CallContext) =>
    commands.runAndNotify(orderId, command, context, { merchantId, oncePerRequest: true });

  const priced = async (order: ExistingOrder, items: Items, context: CallContext): Promise<NewItems> => {
    const price = await priceOf(order, items, options);
    // Asked last: the order decides right after it.
    return { ...price, recordedPayment: (await payments.unsettledPayment(order, context)).payment_id };
  };

  /** By payment id: a refund that waits for its transfer. A payment that the order may still decide on has none. */
  const openRefundsOf = async (order: ExistingOrder, context: CallContext): Promise<Record<string, string>> => {
    const ids = order.payments
      .filter((payment) => payment.status !== 'received' && canBeCaptured(order, payment))
      .map(({ paymentId }) => paymentId);
    if (ids.length === 0) return {};
    const { payments: known } = await payments.refundable(ids, context);
    return Object.fromEntries(
      known.flatMap(({ payment_id: id, open_refund: refundId }) => (refundId === undefined ? [] : [[id, refundId]])),
    );
  };

  return {
    capture: async (orderId, { merchant_id: merchantId }, context) => {
      const openRefunds = await openRefundsOf(await loadOrder(handler, orderId, merchantId), context);
      return run(orderId, merchantId, { type: 'CapturePayments', openRefunds, at: now() }, context);
    },
    accept: (orderId, { merchant_id: merchantId, reason: because }, context) =>
      run(orderId, merchantId, { type: 'AcceptOrder', because, at: now() }, context),
    cancel: async (orderId, { merchant_id: merchantId, if_unpaid: onlyUnpaid = false }, context) => {
      if (!onlyUnpaid) return run(orderId, merchantId, { type: 'CancelOrder', at: now() }, context);
      const order = await loadOrder(handler, orderId, merchantId);
      const ifUnpaid = { recordedPayment: (await payments.unsettledPayment(order, context)).payment_id };
      return run(orderId, merchantId, { type: 'CancelOrder', ifUnpaid, at: now() }, context);
    },
    update: async (orderId, { merchant_id: merchantId, changes }, context) => {
      const { metadata, expiration_minutes: expirationMinutes, items } = changes;
      const newItems = items && (await priced(await loadOrder(handler, orderId, merchantId), items, context));
      const command = { type: 'UpdateOrder', metadata, expirationMinutes, newItems, rateLockMaxMinutes } as const;
      return run(orderId, merchantId, { ...command, at: now() }, context);
    },
  };
};

type Items = NonNullable<UpdateOrderCall['changes']['items']>;

/** The items with their total at new rates. The order decides how long these stay locked. */
const priceOf = async (
  { currency, decimals, expiresAt }: ExistingOrder,
  items: Items,
  { rates: market, assets, now }: OrderChangesOptions,
): Promise<Pick<NewItems, 'items' | 'rates' | 'totalMinor'>> => {
  const lock = { now: now(), expiresAt, decimals, stepMinor: payableStep(assets, currency, decimals) };
  const { rates, pricedMinor: totalMinor } = await quoteItems(market, items, currency, lock);
  return { items, rates, totalMinor };
};

type NewItems = NonNullable<Extract<OrderCommand, { type: 'UpdateOrder' }>['newItems']>;
