import { RegisteredPayment, type RegisterPaymentCall } from '@cpg/contracts';
import type { CallContext, InternalClient } from '@cpg/runtime';

/** Calls to the service that owns the payments. */
export const paymentsClient = (client: InternalClient) => ({
  /** Reports money that a rail saw. The same (rail, provider id) again is the same payment. */
  register: (payment: RegisterPaymentCall, context: CallContext): Promise<RegisteredPayment> =>
    client.call('POST', '/payments', { context, response: RegisteredPayment, body: payment }),
});

export type PaymentsClient = ReturnType<typeof paymentsClient>;
