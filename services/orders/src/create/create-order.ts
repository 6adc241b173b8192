import { type AssetTable, payableStep, requirePayable } from '@cpg/assets';
import {
  type CreateOrderCall,
  DEFAULT_EXPIRATION_MINUTES,
  OrderDetails,
  type Scales,
  toleranceBpsOf as toBps,
} from '@cpg/contracts';
import { afterRecording } from '@cpg/event-sourcing';
import type { CallContext } from '@cpg/platform';
import type { ProjectOrder } from '../commands/order-commands.ts';
import { existingOrder, notFound, type OrderHandler } from '../commands/order-handler.ts';
import type { OrderCommand } from '../order/command.ts';
import { earlierOf, plusMinutes } from '../order/deadline.ts';
import type { ExistingOrder } from '../order/state.ts';
import { quoteItems, type RateProvider } from '../rates/rates.ts';
import { type CreatedOrder, createOnce, type CreateOnceOptions, idempotencyOf } from './create-once.ts';
import { type FindPayables, recordWith } from './payables.ts';

/** Prices an order, takes its deposit instructions, and records it, once: see `createOnce`. */
export type CreateOrder = (call: CreateOrderCall, context: CallContext) => Promise<CreatedOrder>;

export interface CreateOrderOptions {
  readonly handler: OrderHandler;
  readonly project: ProjectOrder;
  readonly earlierCreates: CreateOnceOptions['find'];
  readonly payablesOf: FindPayables;
  readonly rates: RateProvider;
  /** How long rates may be locked, from their quote. */
  readonly rateLockMaxMinutes: number;
  /** The tolerance for underpayment of a merchant, in hundredths of a percent. */
  readonly toleranceBpsOf: (merchantId: string) => Promise<number>;
  readonly assets: AssetTable;
  /** Of new orders. */
  readonly scales: Scales;
  readonly now: () => Date;
  /** The time by which Idempotency-Keys end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
}

export const orderCreation =
  (options: CreateOrderOptions): CreateOrder =>
  async (call, context) => {
    const { order_id: orderId, merchant_id: merchantId, request_hash: requestHash } = call;
    const created = await createOnce(
      { orderId, merchantId, requestHash, requestId: context.requestId },
      {
        create: async (id) => {
          if (call.only_repeat) throw notFound();
          return recordOrder({ ...call, order_id: id }, context, options);
        },
        find: options.earlierCreates,
        endsBy: options.endsBy,
      },
    );
    await afterRecording(() => options.project(created.order, 0));
    return created;
  };

/** Null when the order id is in use. */
const recordOrder = async (
  { order_id: orderId, merchant_id: merchantId, order, request_hash: requestHash }: CreateOrderCall,
  context: CallContext,
  { handler, payablesOf, rates: market, rateLockMaxMinutes, toleranceBpsOf, assets, scales, now }: CreateOrderOptions,
): Promise<ExistingOrder | null> => {
  const {
    items,
    enable_rails: rails,
    payment_currency: currency,
    capabilities,
    expiration_minutes: expirationMinutes = DEFAULT_EXPIRATION_MINUTES,
    underpayment_tolerance_percent: percent,
    ...details
  } = order;
  const at = now();
  const decimals = scales[currency];
  const identity = { orderId, merchantId, currency, decimals, rails };
  const toleranceBps = percent === undefined ? await toleranceBpsOf(merchantId) : toBps(percent);
  const expiresAt = plusMinutes(at, expirationMinutes);
  // Without renewal the rates stay locked until the deadline: nothing else could end them.
  const renews = capabilities.expiration_auto_renewal;
  const ratesExpireAt = renews ? earlierOf(expiresAt, plusMinutes(at, rateLockMaxMinutes)) : expiresAt;
  const stepMinor = payableStep(assets, currency, decimals);
  const lock = { now: at, expiresAt: ratesExpireAt, decimals, stepMinor };
  const quoted = await quoteItems(market, items, currency, lock);
  if (rails.includes('crypto_deposit')) requirePayable(assets, currency, quoted.pricedMinor);
  const payables = await payablesOf({ ...identity, totalMinor: quoted.pricedMinor }, context);
  const command: OrderCommand = {
    type: 'CreateOrder',
    ...identity,
    ...OrderDetails.toRecorded(details),
    items,
    capabilities,
    rates: quoted.rates,
    totalMinor: quoted.pricedMinor,
    toleranceBps,
    expirationMinutes,
    ...(ratesExpireAt < expiresAt && { ratesExpireAt }),
    ...(payables && { instructions: payables.instructions }),
    at,
  };
  const idempotency = requestHash === undefined ? undefined : idempotencyOf(requestHash, at);
  let isNew = false;
  const created = await recordWith(payables, async (beforeAppend) => {
    const handling = { fresh: true, beforeAppend, idempotency };
    const { state, events } = await handler.handle(orderId, command, context, handling);
    isNew = events.length > 0;
    return existingOrder(state);
  });
  return isNew ? created : null;
};
