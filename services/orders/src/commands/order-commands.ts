import { type AssetTable, payableStep, requirePayable } from '@cpg/assets';
import {
  type CreateOrderCall,
  DEFAULT_EXPIRATION_MINUTES,
  type Item,
  type OrderEvent,
  type PaymentCurrency,
  type PaymentOutcome,
  toleranceBpsOf as toBps,
} from '@cpg/contracts';
import { afterRecording, type HandledCommand, type HandleOptions } from '@cpg/event-sourcing';
import type { CallContext, Logger } from '@cpg/platform';
import type { OutcomesLimits, PaymentsClient } from './payments-client.ts';
import { type CreatedOrder, createOnce, type CreateOnceOptions, idempotencyOf } from '../create/create-once.ts';
import { notifyPayments } from './notify-payments.ts';
import { existingOrder, loadOrder, notFound, type OrderHandler } from './order-handler.ts';
import type { OrderCommand } from '../order/command.ts';
import { awaitsConfirmation, deadlineAfterRenewal, earlierOf, plusMinutes, renewsWhenDue } from '../order/deadline.ts';
import { dueAt, type ExistingOrder, type Order } from '../order/state.ts';
import { outcomesOf } from '../order/outcomes.ts';
import { quoteItems } from '../rates/quote-items.ts';
import type { RateProvider } from '../rates/rates.ts';
import { type FindPayables, recordWith } from '../create/payables.ts';
import type { AwaitsChains } from '../deadlines/unread-chains.ts';

export interface OrderCommands {
  /** Prices the order, takes its deposit instructions, and records it, once: see `createOnce`. */
  readonly create: (call: CreateOrderCall, context: CallContext) => Promise<CreatedOrder>;
  /** Decides, records and projects one command of payments, which receives the outcomes in the answer. */
  readonly run: (
    orderId: string,
    command: OrderCommand,
    context: CallContext,
    options?: Pick<HandleOptions, 'causationId' | 'oncePerRequest' | 'beforeAppend'>,
  ) => Promise<CommandResult>;
  /** Runs a command of anyone else, and sends payments the outcomes. Throws `not_found` unless the order belongs to
   *  `merchantId`, if that is given. */
  readonly runAndNotify: (
    orderId: string,
    command: OrderCommand,
    context: CallContext,
    options?: { merchantId?: string; limits?: OutcomesLimits } & Pick<HandleOptions, 'oncePerRequest' | 'beforeAppend'>,
  ) => Promise<ExistingOrder>;
  /** Does what the clock requires: expires or renews the order, or finds deposit instructions again, and sends
   *  payments the outcomes. Null if nothing is due. */
  readonly runDue: (order: ExistingOrder, context: CallContext) => Promise<ExistingOrder | 'awaits chains' | null>;
}

interface CommandResult {
  readonly order: ExistingOrder;
  /** Outcomes of the payments that the command names or changed. */
  readonly outcomes: PaymentOutcome[];
}

export interface OrderCommandsOptions {
  readonly handler: OrderHandler;
  /** Writes the order to the read model, so that it is visible before the command is answered. */
  readonly project: (order: ExistingOrder, revision: number) => Promise<void>;
  /** Finds the create that was recorded under an order id. */
  readonly earlierCreates: CreateOnceOptions['find'];
  readonly payments: PaymentsClient;
  readonly payablesOf: FindPayables;
  readonly awaitsChains: AwaitsChains;
  readonly rates: RateProvider;
  /** How long rates may be locked, from their quote. */
  readonly rateLockMaxMinutes: number;
  /** The tolerance for underpayment of a merchant, in hundredths of a percent. */
  readonly toleranceBpsOf: (merchantId: string) => Promise<number>;
  readonly assets: AssetTable;
  readonly now: () => Date;
  /** The time by which orders and Idempotency-Keys end: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  readonly log: Logger;
}

export const orderCommands = (options: OrderCommandsOptions): OrderCommands => {
  const { handler, now } = options;
  const run: OrderCommands['run'] = async (orderId, command, context, handling) => {
    const handled = await handler.handle(orderId, command, context, handling);
    const order = await projectHandled(handled, options);
    const events = handled.events.map(({ event }) => event);
    return { order, outcomes: outcomesOf(order, command, events) };
  };
  const runAndNotify: OrderCommands['runAndNotify'] = async (
    orderId,
    command,
    context,
    { merchantId, limits, ...handling } = {},
  ) => {
    if (merchantId !== undefined) await loadOrder(handler, orderId, merchantId);
    const { order, outcomes } = await run(orderId, command, context, handling);
    await notifyPayments(orderId, outcomes, context, { ...options, limits });
    return order;
  };
  return {
    create: async (call, context) => {
      const { order_id: orderId, merchant_id: merchantId, request_hash: requestHash } = call;
      const created = await createOnce(
        { orderId, merchantId, requestHash, requestId: context.requestId },
        {
          create: async (id) => {
            if (call.only_repeat) throw notFound();
            return createOrder({ ...call, order_id: id }, context, options);
          },
          find: options.earlierCreates,
          endsBy: options.endsBy,
        },
      );
      await afterRecording(() => options.project(created.order, 0));
      return created;
    },
    run,
    runAndNotify,
    runDue: async (order, context) => {
      const at = options.endsBy();
      if (at.toISOString() >= dueAt(order)) {
        if (awaitsConfirmation(order, at)) return null;
        if (await options.awaitsChains(order, context)) return 'awaits chains';
        const command = renewsWhenDue(order)
          ? await renewal(order, options)
          : { type: 'ExpireOrder' as const, at: now() };
        return runAndNotify(order.orderId, command, context, { limits: TIMER_LIMITS });
      }
      if (order.status !== 'initialized') return null;
      const payables = await options.payablesOf(order, context);
      if (!payables) return null;
      const command = { type: 'InstructOrder', instructions: payables.instructions, at: now() } as const;
      return recordWith(payables, (beforeAppend) =>
        runAndNotify(order.orderId, command, context, { limits: TIMER_LIMITS, beforeAppend }),
      );
    },
  };
};

/** A timer serves many orders: payments that does not answer must not hold up the others. */
const TIMER_LIMITS: OutcomesLimits = { timeoutMs: 3_000, connectRetryMs: 0 };

/** Null when the order id is in use. */
const createOrder = async (
  { order_id: orderId, merchant_id: merchantId, order, request_hash: requestHash }: CreateOrderCall,
  context: CallContext,
  options: OrderCommandsOptions,
): Promise<ExistingOrder | null> => {
  const { handler, payablesOf, toleranceBpsOf, assets, now } = options;
  const at = now();
  const expirationMinutes = order.expiration_minutes ?? DEFAULT_EXPIRATION_MINUTES;
  const identity = { orderId, merchantId, currency: order.payment_currency, rails: order.enable_rails };
  const percent = order.underpayment_tolerance_percent;
  const toleranceBps = percent === undefined ? await toleranceBpsOf(merchantId) : toBps(percent);
  const expiresAt = plusMinutes(at, expirationMinutes);
  // Without renewal the rates stay locked until the deadline: nothing else could end them.
  const renews = order.capabilities.expiration_auto_renewal;
  const ratesExpireAt = renews ? earlierOf(expiresAt, plusMinutes(at, options.rateLockMaxMinutes)) : expiresAt;
  const quoted = await quote(order.items, identity.currency, { now: at, ratesExpireAt }, options);
  if (identity.rails.includes('crypto_deposit')) requirePayable(assets, identity.currency, quoted.pricedMinor);
  const payables = await payablesOf({ ...identity, totalMinor: quoted.pricedMinor }, context);
  const command: OrderCommand = {
    type: 'CreateOrder',
    ...identity,
    externalReferenceId: order.external_reference_id,
    items: order.items,
    capabilities: order.capabilities,
    rates: quoted.rates,
    totalMinor: quoted.pricedMinor,
    toleranceBps,
    expirationMinutes,
    ...(ratesExpireAt < expiresAt && { ratesExpireAt }),
    ...(order.metadata && { metadata: order.metadata }),
    ...(order.return_url !== undefined && { returnUrl: order.return_url }),
    ...(order.cancel_url !== undefined && { cancelUrl: order.cancel_url }),
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
  if (!isNew) return null;
  return created;
};

const renewal = async (order: ExistingOrder, options: OrderCommandsOptions): Promise<OrderCommand> => {
  const at = options.now();
  const ratesExpireAt = earlierOf(deadlineAfterRenewal(order, at), plusMinutes(at, options.rateLockMaxMinutes));
  const quoted = await quote(order.items, order.currency, { now: at, ratesExpireAt }, options);
  return { type: 'RenewOrder', ...quoted, ratesExpireAt, at };
};

const quote = (
  items: readonly Item[],
  currency: PaymentCurrency,
  { now, ratesExpireAt: expiresAt }: { readonly now: Date; readonly ratesExpireAt: string },
  { rates, assets }: OrderCommandsOptions,
) => quoteItems(rates, items, currency, { now, expiresAt, stepMinor: payableStep(assets, currency) });

const projectHandled = async (
  { state, revision }: Pick<HandledCommand<Order, OrderEvent>, 'state' | 'revision'>,
  { project }: OrderCommandsOptions,
): Promise<ExistingOrder> => {
  const order = existingOrder(state);
  await afterRecording(() => project(order, revision));
  return order;
};
