import type { AssignedInstruction, MerchantCreateOrderDto, OrderEvent, PaymentOutcome } from '@cpg/contracts';
import { DEFAULT_EXPIRATION_MINUTES } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { CommandHandler, Handled } from '@cpg/event-store';
import type { CallContext, Logger } from '@cpg/runtime';
import type { PaymentsClient } from './clients/payments.ts';
import type { OrderCommand } from './order/order.ts';
import { currenciesOf, price } from './order/pricing.ts';
import { type ExistingOrder, exists, type Order } from './order/state.ts';
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
  /** Gives an order that is still `initialized` its instructions. */
  readonly instruct: (order: ExistingOrder, context: CallContext) => Promise<void>;
  /** Decides, records and projects one command; payments learn what became of their payments. `merchantId`, when given, must own the order. */
  readonly run: (
    orderId: string,
    command: OrderCommand,
    context: CallContext,
    options?: { merchantId?: string; causationId?: string },
  ) => Promise<RunResult>;
  /** New quotes at the deadline of an order that renews. */
  readonly renew: (order: ExistingOrder, context: CallContext) => Promise<void>;
}

export interface RunResult {
  readonly order: ExistingOrder;
  /** What became of the payments whose outcome this command decided. */
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
  const projected = async ({ state, revision }: Handled<Order, OrderEvent>): Promise<ExistingOrder> => {
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
    const { state } = await handler.peek(orderId);
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

    instruct: async (order, context) => {
      const instructions = await instructionsFor(order, context);
      if (instructions) await run(order.orderId, { type: 'InstructOrder', instructions, at: now() }, context);
    },

    run,

    renew: async (order, context) => {
      const at = now();
      const expiresAt = new Date(at.getTime() + order.expirationMinutes * 60_000);
      const locked = await lockRates(rates, currenciesOf(order.items), order.currency, { now: at, expiresAt });
      await run(
        order.orderId,
        { type: 'RenewOrder', rates: locked, pricedMinor: price(order.items, locked, order.currency), at },
        context,
      );
    },
  };
};

/** What the events decided of payments, as the order holds them now. A payment that was offered is among them even when it was known. */
const outcomesOf = (order: ExistingOrder, command: OrderCommand, events: readonly OrderEvent[]): PaymentOutcome[] => {
  const touched = new Set(events.flatMap(paymentsDecidedBy));
  if ('payment' in command) touched.add(command.payment.paymentId);
  return order.payments
    .filter(({ paymentId }) => touched.has(paymentId))
    .map((payment): PaymentOutcome => {
      const { paymentId: payment_id, updatedAt: at, status } = payment;
      switch (status) {
        case 'applied':
          return {
            status,
            payment_id,
            applied_minor: String(payment.appliedMinor),
            unapplied_minor: String(payment.unappliedMinor),
            at,
          };
        case 'orphan':
          return { status, payment_id, orphan_reason: payment.orphanReason!, at };
        default:
          return { status, payment_id };
      }
    });
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
