import type { PaymentOutcome } from '@cpg/contracts';
import { afterRecording, type HandleOptions } from '@cpg/event-sourcing';
import type { CallContext, Logger } from '@cpg/platform';
import type { OrderCommand } from '../order/command.ts';
import { outcomesOf } from '../order/outcomes.ts';
import type { ExistingOrder } from '../order/state.ts';
import { existingOrder, loadOrder, type OrderHandler } from './order-handler.ts';
import type { OutcomesLimits, PaymentsClient } from './payments-client.ts';

export interface OrderCommands {
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
}

interface CommandResult {
  readonly order: ExistingOrder;
  /** Outcomes of the payments that the command names or changed. */
  readonly outcomes: PaymentOutcome[];
}

/** Writes the order to the read model, so that it is visible before the command is answered. */
export type ProjectOrder = (order: ExistingOrder, revision: number) => Promise<void>;

export const orderCommands = ({
  handler,
  project,
  payments,
  log,
}: {
  readonly handler: OrderHandler;
  readonly project: ProjectOrder;
  readonly payments: Pick<PaymentsClient, 'recordOutcomes'>;
  readonly log: Logger;
}): OrderCommands => {
  const run: OrderCommands['run'] = async (orderId, command, context, options) => {
    const { state, revision, events } = await handler.handle(orderId, command, context, options);
    const order = existingOrder(state);
    await afterRecording(() => project(order, revision));
    const recorded = events.map(({ event }) => event);
    return { order, outcomes: outcomesOf(order, command, recorded) };
  };
  return {
    run,
    runAndNotify: async (orderId, command, context, { merchantId, limits, ...options } = {}) => {
      if (merchantId !== undefined) await loadOrder(handler, orderId, merchantId);
      const { order, outcomes } = await run(orderId, command, context, options);
      // Payments also receives the outcomes by Kafka.
      await payments
        .recordOutcomes(outcomes, context, limits)
        .catch((error: unknown) =>
          log.warn({ err: error, orderId }, 'payments was not notified and will use the Kafka messages'),
        );
      return order;
    },
  };
};
