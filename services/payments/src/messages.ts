import { messageFor, orderReferenceView, PaymentEvent, type PaymentMessage } from '@cpg/contracts';
import { type RecentEvents, type Recorded, stateAt } from '@cpg/event-sourcing';
import type { OutgoingMessage } from '@cpg/platform/kafka';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { paymentDecider } from './payment/payment.ts';
import { type ExistingPayment, exists, type Payment } from './payment/state.ts';
import { paymentResource } from './payment/view.ts';
import { deletedPaymentId } from './read/deletion.ts';

/** Converts events of the log to messages on `payments.v1`. Null for a payment that is deleted by now, and for its
 *  deletion: `order.deleted` announces that. */
export const paymentMessages = (client: EventStoreDBClient, recent?: RecentEvents<Payment, PaymentEvent>) => {
  const states = stateAt({ client, decider: paymentDecider, schema: PaymentEvent, recent });
  return async (entry: AllStreamResolvedEvent): Promise<OutgoingMessage | null> => {
    if (deletedPaymentId(entry)) return null;
    const evolved = await states.read(entry);
    return evolved && paymentMessage(evolved.recorded, evolved.state);
  };
};

/** The message of an event; `payment` is the state right after it. The same event always gives the same message. */
export const paymentMessage = (recorded: Recorded<PaymentEvent>, payment: Payment): PaymentMessage | null =>
  exists(payment)
    ? (messageFor(
        recorded,
        subjectOf(payment),
        paymentResource(payment),
        knownOrderOf(payment),
      ) as PaymentMessage | null)
    : null;

const knownOrderOf = ({ order }: ExistingPayment) => (order ? { order: orderReferenceView(order) } : {});

const subjectOf = ({ paymentId: subject, orderId, merchantId }: ExistingPayment) => ({
  source: '/payments' as const,
  subject,
  orderId,
  merchantId,
});
