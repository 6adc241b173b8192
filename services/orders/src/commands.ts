import type {
  AssignedInstruction,
  MerchantCreateOrderDto,
  OrderEvent,
  PaymentOutcome,
  PaymentState,
} from '@cpg/contracts';
import { DEFAULT_EXPIRATION_MINUTES } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { CommandHandler, HandledCommand } from '@cpg/event-store';
import type { CallContext, Logger } from '@cpg/runtime';
import type { PaymentsClient } from './clients/payments.ts';
import type { OrderCommand } from './order/command.ts';
import { currenciesOf, price } from './order/pricing.ts';
import { type ExistingOrder, exists, heldOpen, type Order, renews } from './order/state.ts';
import { lockRates, type RateProvider } from './rates/rates.ts';

export type OrderHandler = CommandHandler<Order, OrderCommand, OrderEvent>;

export interface OrderCommands {
  /** Prices the order, gets its instructions, and records it. The id is the caller's: a repeat changes nothing and returns the order. */
  readonly create: (
    orderId: string,
    merchantId: string,
    order: MerchantCreateOrderDto,
    context: CallContext,
  ) => Promise<ExistingOrder>;
  /** Decides, records and projects one command; payments learn what became of their payments. `merchantId`, when given, must own the order. */
  readonly run: (
    orderId: string,
    command: OrderCommand,
    context: CallContext,
    options?: { merchantId?: string; causationId?: string },
  ) => Promise<RunResult>;
  /** Does what is due by the clock: expiry, renewal with new quotes, instructions that were slow. Null where nothing is. */
  readonly due: (order: ExistingOrder, context: CallContext) => Promise<RunResult | null>;
}

export interface RunResult {
  readonly order: ExistingOrder;
  /** How the payments stand that this command was about or decided on. */
  readonly outcomes: PaymentOutcome[];
}

export interface OrderCommandsOptions {
  readonly handler: OrderHandler;
  /** Writes the order to the read model, so that it is visible before the command is answered. */
  readonly project: (order: ExistingOrder, revision: number) => Promise<void>;
  readonly payments: PaymentsClient;
  readonly rates: RateProvider;
  readonly now: () => Date;
  readonly log: Logger;
}

export const orderCommands = ({ handler, project, payments, rates, now, log }: OrderCommandsOptions): OrderCommands => {
  const projected = async ({ state, revision }: HandledCommand<Order, OrderEvent>): Promise<ExistingOrder> => {
    if (!exists(state)) throw new AppError('not_found', 'there is no such order');
    await project(state, revision);
    return state;
  };

  const run: OrderCommands['run'] = async (orderId, command, context, { merchantId, causationId } = {}) => {
    if (merchantId !== undefined) await ownedBy(merchantId, orderId);
    const handled = await handler.handle(orderId, command, context, { causationId });
    const order = await projected(handled);
    return {
      order,
      outcomes: outcomesOf(
        order,
        command,
        handled.events.map(({ event }) => event),
      ),
    };
  };

  const ownedBy = async (merchantId: string, orderId: string) => {
    const { state } = await handler.load(orderId);
    if (!exists(state) || state.merchantId !== merchantId) throw new AppError('not_found', 'there is no such order');
  };

  /** The instructions, or undefined while a provider is too slow to be waited for. */
  const instructionsFor = async (
    order: Pick<ExistingOrder, 'orderId' | 'merchantId' | 'currency' | 'rails'>,
    context: CallContext,
  ): Promise<AssignedInstruction[] | undefined> => {
    const { orderId, merchantId, currency, rails } = order;
    return payments.instructions({ order_id: orderId, merchant_id: merchantId, currency, rails: [...rails] }, context);
  };

  const instruct = async (order: ExistingOrder, context: CallContext): Promise<RunResult | null> => {
    const instructions = await instructionsFor(order, context);
    return instructions ? run(order.orderId, { type: 'InstructOrder', instructions, at: now() }, context) : null;
  };

  const renew = async (order: ExistingOrder, context: CallContext): Promise<RunResult> => {
    const at = now();
    const expiresAt = new Date(at.getTime() + order.expirationMinutes * 60_000);
    const locked = await lockRates(rates, currenciesOf(order.items), order.currency, { now: at, expiresAt });
    const pricedMinor = price(order.items, locked, order.currency);
    return run(order.orderId, { type: 'RenewOrder', rates: locked, pricedMinor, at }, context);
  };

  return {
    create: async (orderId, merchantId, order, context) => {
      const at = now();
      const expirationMinutes = order.expiration_minutes ?? DEFAULT_EXPIRATION_MINUTES;
      const expiresAt = new Date(at.getTime() + expirationMinutes * 60_000);
      const locked = await lockRates(rates, currenciesOf(order.items), order.payment_currency, { now: at, expiresAt });
      const totalMinor = price(order.items, locked, order.payment_currency);
      const base = { orderId, merchantId, currency: order.payment_currency, rails: order.enable_rails };
      const instructions = await instructionsFor(base, context);
      const command: OrderCommand = {
        type: 'CreateOrder',
        ...base,
        externalReferenceId: order.external_reference_id,
        items: order.items,
        capabilities: order.capabilities,
        rates: locked,
        totalMinor,
        expirationMinutes,
        ...(order.metadata && { metadata: order.metadata }),
        ...(instructions && { instructions }),
        at,
      };
      const created = await projected(await handler.handle(orderId, command, context, { fresh: true }));
      log.info({ orderId, merchantId, requestId: context.requestId, status: created.status }, 'order created');
      return created;
    },

    run,

    due: async (order, context) => {
      const at = now();
      if (at.toISOString() < order.expiresAt) return order.status === 'initialized' ? instruct(order, context) : null;
      if (heldOpen(order, at)) return null;
      return renews(order) ? renew(order, context) : run(order.orderId, { type: 'ExpireOrder', at }, context);
    },
  };
};

/** What the events decided of payments, as the order holds them now. The payment that the command is about is among them even when
 *  nothing changed: an earlier answer may have been lost. */
const outcomesOf = (order: ExistingOrder, command: OrderCommand, events: readonly OrderEvent[]): PaymentOutcome[] => {
  const touched = new Set(events.flatMap(paymentsDecidedBy));
  if ('payment' in command) touched.add(command.payment.paymentId);
  if ('paymentId' in command) touched.add(command.paymentId);
  const known = order.payments.filter(({ paymentId }) => touched.has(paymentId)).map(outcomeOf);
  return [...known, ...untakenOf(order, command)];
};

/** The payment that the order takes no note of, for it has too many. */
const untakenOf = (order: ExistingOrder, command: OrderCommand): PaymentOutcome[] => {
  if (command.type !== 'OfferPayment' || !command.confirmed) return [];
  const { paymentId: payment_id } = command.payment;
  if (order.payments.some(({ paymentId }) => paymentId === payment_id)) return [];
  return [{ status: 'orphan', payment_id, orphan_reason: 'too_many_payments', at: command.at.toISOString() }];
};

/** How a payment stands on its order, for the payment's own record. */
export const outcomeOf = ({ paymentId, status, updatedAt: at, ...payment }: PaymentState): PaymentOutcome => {
  const payment_id = paymentId;
  switch (status) {
    case 'applied': {
      const { appliedMinor, unappliedMinor } = payment;
      return { status, payment_id, applied_minor: String(appliedMinor), unapplied_minor: String(unappliedMinor), at };
    }
    case 'orphan':
      return { status, payment_id, orphan_reason: payment.orphanReason!, at };
    default:
      return { status, payment_id };
  }
};

const paymentsDecidedBy = (event: OrderEvent): string[] => {
  switch (event.type) {
    case 'OrderPaymentsApplied':
      return event.data.allocations.map(({ paymentId }) => paymentId);
    case 'OrderPaymentsOrphaned':
      return event.data.paymentIds;
    case 'OrderExpired':
    case 'OrderCanceled':
      return event.data.orphanedPaymentIds;
    default:
      return [];
  }
};
