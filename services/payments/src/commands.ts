import type { PaymentEvent, PaymentOutcome } from '@cpg/contracts';
import { AppError, isAppError } from '@cpg/core';
import type { CommandHandler, HandleOptions } from '@cpg/event-store';
import type { CallContext } from '@cpg/runtime';
import type { Outcome, PaymentCommand } from './payment/payment.ts';
import { type ExistingPayment, exists, type Payment } from './payment/state.ts';
import type { ProjectedPayment } from './projections/payments.ts';

export type PaymentHandler = CommandHandler<Payment, PaymentCommand, PaymentEvent>;

export interface PaymentCommands {
  /** The payment as this process last saw it: what of it never changes. Throws `not_found`. */
  readonly find: (paymentId: string) => Promise<ExistingPayment>;
  /** Decides, records and projects one command. */
  readonly run: (
    paymentId: string,
    command: PaymentCommand,
    context: CallContext,
    options?: HandleOptions,
  ) => Promise<ExistingPayment>;
  /** Records what orders decided of their payments, and resolves to those payments. What was deleted since is passed over. */
  readonly recordOutcomes: (
    outcomes: readonly PaymentOutcome[],
    context: CallContext,
    options?: HandleOptions,
  ) => Promise<ExistingPayment[]>;
}

export interface PaymentCommandsOptions {
  readonly handler: PaymentHandler;
  /** Writes the payment to the read model, so that it is visible before the command is answered. */
  readonly project: (projected: ProjectedPayment) => Promise<void>;
}

export const paymentCommands = ({ handler, project }: PaymentCommandsOptions): PaymentCommands => {
  const known = (payment: Payment): ExistingPayment => {
    if (!exists(payment)) throw new AppError('not_found', 'there is no such payment');
    return payment;
  };
  const run: PaymentCommands['run'] = async (...command) => {
    const { state, revision } = await handler.handle(...command);
    const payment = known(state);
    // Also when nothing changed: then a crash may have kept an earlier run from it.
    await project({ payment, revision });
    return payment;
  };
  return {
    find: async (paymentId) => known((await handler.load(paymentId)).state),
    run,
    recordOutcomes: async (outcomes, context, options) => {
      const each = outcomes.map(async (decided) => {
        const outcome = outcomeOf(decided);
        if (!outcome) return [];
        try {
          return [await run(decided.payment_id, { type: 'RecordOutcome', outcome }, context, options)];
        } catch (error) {
          if (isAppError(error, 'not_found')) return [];
          throw error;
        }
      });
      return (await Promise.all(each)).flat();
    },
  };
};

/** What an order decided, or null where it decided nothing: of a failure or a refund the payment itself knew first. */
const outcomeOf = (decided: PaymentOutcome): Outcome | null => {
  switch (decided.status) {
    case 'applied': {
      const { applied_minor, unapplied_minor, at } = decided;
      return {
        status: 'applied',
        appliedMinor: BigInt(applied_minor),
        unappliedMinor: BigInt(unapplied_minor),
        at: new Date(at),
      };
    }
    case 'orphan':
      return { status: 'orphan', orphanReason: decided.orphan_reason, at: new Date(decided.at) };
    default:
      return null;
  }
};
