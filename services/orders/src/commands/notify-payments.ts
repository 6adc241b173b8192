import type { PaymentOutcome } from '@cpg/contracts';
import type { CallContext, Logger } from '@cpg/platform';
import type { OutcomesLimits, PaymentsClient } from './payments-client.ts';

/** Sends payments the outcomes of its payments, so that it does not have to wait for Kafka. A failure is only logged:
 *  payments also receives them as messages. */
export const notifyPayments = (
  orderId: string,
  outcomes: PaymentOutcome[],
  context: CallContext,
  { payments, log, limits }: { payments: PaymentsClient; log: Logger; limits: OutcomesLimits | undefined },
): Promise<void> =>
  payments
    .recordOutcomes(outcomes, context, limits)
    .catch((error: unknown) =>
      log.warn({ err: error, orderId }, 'payments was not notified and will use the Kafka messages'),
    );
