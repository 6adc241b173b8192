import { AppError, isAppError, type PaymentEvent, type PaymentOutcome } from '@cpg/contracts';
import { afterRecording, type CommandHandler, type HandleOptions, withFactLog } from '@cpg/event-sourcing';
import type { CallContext, Logger } from '@cpg/platform';
import type { Outcome, PaymentCommand } from '../payment/command.ts';
import { type ExistingPayment, exists, type Payment, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import type { ProjectedPayment } from '../read/payment-rows.ts';

export type PaymentHandler = CommandHandler<Payment, PaymentCommand, PaymentEvent>;

/** The log line of each event of a payment. */
const FACTS = {
  PaymentReceived: 'payment received',
  PaymentApplied: 'payment applied',
  PaymentOrphaned: 'payment orphaned',
  PaymentFailed: 'payment failed',
  PaymentReinstated: 'payment reinstated',
  PaymentRefunded: 'payment refunded',
  PaymentAssigned: 'payment assigned',
  PaymentRefundRequested: 'refund requested',
  PaymentRefundClaimIssued: 'claim link of a refund issued',
  PaymentRefundClaimed: 'refund claimed by the payer',
  PaymentRefundSent: 'refund sent',
  PaymentRefundReopened: 'refund pending again: its transfer left the chain',
  PaymentRefundCanceled: 'refund canceled',
} as const;

export const withPaymentLog = (handler: PaymentHandler, log: Logger): PaymentHandler =>
  withFactLog(handler, {
    sentences: FACTS,
    fieldsOf: (paymentId, payment) => ({ paymentId, orderId: exists(payment) ? payment.orderId : undefined }),
    log,
  });

export interface PaymentCommands {
  /** The payment. From the cache, only its owner and the properties that never change are certain; with `fresh` it is
   *  read from the event store. Throws `not_found`. */
  readonly find: (paymentId: string, options?: { readonly fresh?: boolean }) => Promise<ExistingPayment>;
  /** Executes one command: decides, appends its events and updates the read model. */
  readonly run: (
    paymentId: string,
    command: PaymentCommand,
    context: CallContext,
    options?: HandleOptions,
  ) => Promise<ExistingPayment>;
  /** Records what orders decided about their payments, and resolves to those payments. Skips deleted payments. */
  readonly recordOutcomes: (
    outcomes: readonly PaymentOutcome[],
    context: CallContext,
    options?: HandleOptions,
  ) => Promise<ExistingPayment[]>;
}

export interface PaymentCommandsOptions {
  readonly handler: PaymentHandler;
  /** Writes the payment to the read model, so that reads show it before the command is answered. */
  readonly project: (projected: ProjectedPayment) => Promise<void>;
}

export const paymentCommands = ({ handler, project }: PaymentCommandsOptions): PaymentCommands => {
  const requireExisting = (payment: Payment): ExistingPayment => {
    if (!exists(payment)) throw new AppError('not_found', 'the payment does not exist');
    return payment;
  };
  const run: PaymentCommands['run'] = async (...command) => {
    const { state, revision } = await handler.handle(...command);
    const payment = requireExisting(state);
    // Also without new events: a crash may have prevented an earlier projection.
    await afterRecording(() => project({ payment, revision }));
    return payment;
  };
  return {
    find: async (paymentId, { fresh = false } = {}) => {
      const find = async () => requireExisting((await handler.load(paymentId)).state);
      const findFresh = () => {
        handler.evict(paymentId);
        return find();
      };
      if (fresh) return findFresh();
      const known = await find();
      // An operator may have assigned it since.
      return known.merchantId === UNCLAIMED_MERCHANT ? findFresh() : known;
    },
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

/** Null for statuses that the order did not decide: received, and failures and refunds, which start at the payment. */
const outcomeOf = (decided: PaymentOutcome): Outcome | null => {
  switch (decided.status) {
    case 'applied': {
      const { applied_minor, unapplied_minor, smallest_payable_minor: smallest, sighting, at } = decided;
      return {
        status: 'applied',
        appliedMinor: BigInt(applied_minor),
        unappliedMinor: BigInt(unapplied_minor),
        ...(smallest !== undefined && { smallestPayableMinor: BigInt(smallest) }),
        sighting,
        at: new Date(at),
      };
    }
    case 'orphan': {
      const { orphan_reason: orphanReason, sighting, at } = decided;
      return { status: 'orphan', orphanReason, sighting, at: new Date(at) };
    }
    default:
      return null;
  }
};
