import {
  type ConfirmationCall,
  type FailureCall,
  type HistoryQuery,
  RecordedHistory,
  type RefundCall,
  RegisteredPayment,
  type RegisterPaymentCall,
} from '@cpg/contracts';
import { isAppError } from '@cpg/core';
import type { CallContext, InternalClient } from '@cpg/runtime';
import { notFound } from '../not-found.ts';

/** Calls to the service that owns the payments. Each can be sent again without a second effect. */
export const paymentsClient = (client: InternalClient) => {
  const change = async (id: string, what: string, body: object, context: CallContext): Promise<RegisteredPayment> => {
    try {
      return await client.call('POST', `/payments/${id}/${what}`, { context, response: RegisteredPayment, body });
    } catch (error) {
      throw isAppError(error, 'not_found') ? notFound('payment') : error;
    }
  };
  return {
    /** Reports money that a rail saw. The same (rail, provider id) again is the same payment. */
    register: (payment: RegisterPaymentCall, context: CallContext): Promise<RegisteredPayment> =>
      client.call('POST', '/payments', { context, response: RegisteredPayment, body: payment }),
    confirm: (id: string, call: ConfirmationCall, context: CallContext) => change(id, 'confirmation', call, context),
    fail: (id: string, call: FailureCall, context: CallContext) => change(id, 'failure', call, context),
    refund: (id: string, call: RefundCall, context: CallContext) => change(id, 'refunds', call, context),
    /** What is recorded of the payments of an order. */
    history: (orderId: string, query: HistoryQuery, context: CallContext): Promise<RecordedHistory> =>
      client.call('GET', `/orders/${orderId}/history`, { context, query, response: RecordedHistory }),
  };
};

export type PaymentsClient = ReturnType<typeof paymentsClient>;
