import { PaymentEvent, type PaymentMessage, PaymentMessage as PaymentMessageSchema, paymentView } from '@cpg/contracts';
import { parseRecorded, type Recorded, stateAt } from '@cpg/event-store';
import { messageFor } from '@cpg/stream-relay';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { deletedPaymentId } from './deletion.ts';
import { paymentDecider } from './payment/payment.ts';
import { exists, type Payment } from './payment/state.ts';

/** The message on `payments.v1` of an event in the log. Null for a payment that has been deleted since, and for its deletion: the
 *  order's own says it. */
export const paymentMessages = (client: EventStoreDBClient) => {
  const states = stateAt({ client, decider: paymentDecider, schema: PaymentEvent });
  return async (resolved: AllStreamResolvedEvent): Promise<PaymentMessage | null> => {
    if (deletedPaymentId(resolved)) return null;
    const recorded = parseRecorded(PaymentEvent, resolved);
    const payment = await states.after(recorded);
    return payment && paymentMessage(recorded, payment);
  };
};

/** The message of an event that left its payment like this. The same event always makes the same message. */
export const paymentMessage = (recorded: Recorded<PaymentEvent>, payment: Payment): PaymentMessage | null => {
  if (!exists(payment)) return null;
  const { paymentId: subject, orderId, merchantId } = payment;
  const resource = paymentView(payment);
  const message = messageFor(recorded, { source: '/payments', subject, orderId, merchantId, resource });
  return message && PaymentMessageSchema.parse(message);
};
