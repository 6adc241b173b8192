import {
  messageTypeOf,
  PaymentEvent,
  type PaymentMessage,
  PaymentMessage as PaymentMessageSchema,
  paymentView,
} from '@cpg/contracts';
import { parseRecorded, stateAt } from '@cpg/event-store';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { deletedPaymentId } from './deletion.ts';
import { paymentDecider } from './payment/payment.ts';
import { exists } from './payment/state.ts';

/** The message on `payments.v1` of an event in the log. Null for a payment that has been deleted since, and for its deletion: the
 *  order's own says it. */
export const paymentMessages = (client: EventStoreDBClient) => {
  const states = stateAt({ client, decider: paymentDecider, schema: PaymentEvent });
  return async (resolved: AllStreamResolvedEvent): Promise<PaymentMessage | null> => {
    if (deletedPaymentId(resolved)) return null;
    const recorded = parseRecorded(PaymentEvent, resolved);
    const payment = await states.after(recorded);
    if (!payment || !exists(payment)) return null;
    const { id, event, metadata, revision } = recorded;
    const type = messageTypeOf(event.type);
    return PaymentMessageSchema.parse({
      specversion: '1.0',
      id,
      source: '/payments',
      type,
      subject: payment.paymentId,
      time: event.data.at,
      datacontenttype: 'application/json',
      dataschema: `/schemas/${type}.v1.json`,
      sequence: String(revision),
      correlationid: metadata.$correlationId,
      causationid: metadata.$causationId,
      merchantid: payment.merchantId,
      orderid: payment.orderId,
      data: { change: event.data, resource: paymentView(payment) },
    });
  };
};
