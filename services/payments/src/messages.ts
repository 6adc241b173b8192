import { PaymentEvent, type PaymentMessage, PaymentMessage as PaymentMessageSchema, paymentView } from '@cpg/contracts';
import { parseRecorded, type Recorded, stateAt } from '@cpg/event-store';
import { messageFor } from '@cpg/stream-relay';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { deletedPaymentId } from './deletion.ts';
import { paymentDecider } from './payment/payment.ts';
import { exists, type Payment } from './payment/state.ts';

/** Converts events of the log to messages on `payments.v1`. Null for a payment that is deleted by now, and for its
 *  deletion: `order.deleted` announces that. */
export const paymentMessages = (client: EventStoreDBClient) => {
  const states = stateAt({ client, decider: paymentDecider, schema: PaymentEvent });
  return async (resolved: AllStreamResolvedEvent): Promise<PaymentMessage | null> => {
    if (deletedPaymentId(resolved)) return null;
    const recorded = parseRecorded(PaymentEvent, resolved);
    const payment = await states.after(recorded);
    return payment && paymentMessage(recorded, payment);
  };
};

/** The message of an event; `payment` is the state right after it. The same event always gives the same message. */
export const paymentMessage = (recorded: Recorded<PaymentEvent>, payment: Payment): PaymentMessage | null => {
  if (!exists(payment)) return null;
  const { paymentId: subject, orderId, merchantId } = payment;
  const resource = paymentView(payment);
  const message = messageFor(recorded, { source: '/payments', subject, orderId, merchantId, resource });
  return message && PaymentMessageSchema.parse(message);
};
