import { invalidRequest, type PaymentCurrency, toMinor } from '@cpg/contracts';

/** Parses the field `amount` of a request to minor units of its currency. Throws `invalid_request` that names the field
 *  for zero and for more decimals than the currency has. */
export const parsePositiveAmount = ({ amount, currency }: { amount: string; currency: PaymentCurrency }): bigint => {
  const minor = parseAmount(amount, currency);
  if (minor === 0n) throw invalidAmount('must be positive');
  return minor;
};

const parseAmount = (amount: string, currency: PaymentCurrency): bigint => {
  try {
    return toMinor(amount, currency);
  } catch (error) {
    throw error instanceof RangeError ? invalidAmount(error.message) : error;
  }
};

const invalidAmount = (message: string) => invalidRequest([{ path: 'amount', message }]);
