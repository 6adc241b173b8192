import { AppError } from '@cpg/contracts';
import type { ExistingOrder } from './state.ts';

/** Throws `payment_in_progress` once money for the order was seen: a payment that has not failed and is not refunded in
 *  full. `recordedPayment` is one that the payments service has and that the order may not know yet. */
export const refuseSeenMoney = (
  { payments }: ExistingOrder,
  recordedPayment: string | null,
  consequence: string,
): void => {
  const known = payments.find(({ status }) => status !== 'failed' && status !== 'refunded');
  const paymentId = known?.paymentId ?? recordedPayment;
  if (paymentId !== null)
    throw new AppError('payment_in_progress', `payment ${paymentId} of the order was seen: ${consequence}`);
};
