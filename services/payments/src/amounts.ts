import { type PaymentCurrency, toMinor } from '@cpg/contracts';
import { invalidRequest } from '@cpg/runtime';

/** Parses an amount to minor units. Throws `invalid_request` naming `amount` for zero and for more decimals than the
 *  currency has. */
export const amountOf = ({ amount, currency }: { amount: string; currency: PaymentCurrency }): bigint => {
  const refused = (message: string) => invalidRequest([{ path: 'amount', message }]);
  let minor: bigint;
  try {
    minor = toMinor(amount, currency);
  } catch (error) {
    throw refused((error as Error).message);
  }
  if (minor === 0n) throw refused('must be positive');
  return minor;
};
