import type { CallContext, Logger } from '@cpg/runtime';
import type { PaymentsClient } from './clients/payments.ts';
import type { CommandResult } from './commands.ts';
import type { ExistingOrder } from './order/state.ts';

/** Sends payments the outcomes of its payments, so that it does not have to wait for Kafka. A failure is only logged:
 *  payments also receives them as messages. */
export const notifyPayments = async (
  { order, outcomes }: CommandResult,
  context: CallContext,
  { payments, log }: { payments: PaymentsClient; log: Logger },
): Promise<ExistingOrder> => {
  await payments
    .recordOutcomes(outcomes, context)
    .catch((error: unknown) =>
      log.warn({ err: error, orderId: order.orderId }, 'payments was not notified and will use the Kafka messages'),
    );
  return order;
};
