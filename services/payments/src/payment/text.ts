import { oncePerObject, paymentView } from '@cpg/contracts';
import type { ExistingPayment } from './state.ts';

/** The JSON text of the Payment resource, rendered once for its answer, its row and its message. */
export const paymentText = oncePerObject((payment: ExistingPayment) => JSON.stringify(paymentView(payment)));
