import { type Payment as PaymentResource, paymentView } from '@cpg/contracts';
import { type ExistingPayment, reservedMinor } from './state.ts';

/** The Payment resource, with what its refunds reserve. Orders do not know that. */
export const paymentResource = (payment: ExistingPayment): PaymentResource =>
  paymentView({ ...payment, reservedMinor: reservedMinor(payment) });
