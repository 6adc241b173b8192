import type { Currencies } from '@cpg/sdk';
import { useOnce } from '../queries.ts';
import { useAllowed } from '../session.ts';

/** The currencies of prices and payments, for who may read them. */
export const useCurrencies = () => useOnce<Currencies>('/v1/currencies', { enabled: useAllowed('readMerchant') });

/** The payment currencies as words for a filter. */
export const useCurrencyWords = (): Record<string, string> => {
  const { data } = useCurrencies();
  return Object.fromEntries(data?.payment_currencies.map(({ currency }) => [currency, currency]) ?? []);
};
