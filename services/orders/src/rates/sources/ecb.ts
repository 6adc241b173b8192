import type { Decimal } from '@cpg/contracts';
import { divide, positive } from '../decimals.ts';
import { MINUTE_MS, type Price, type RateSource } from './source.ts';

/** The reference rates of the European Central Bank, published once each working day: units of each currency per euro.
 *  They stay valid for five days, so that they cover a long weekend. Source: ECB, "Euro foreign exchange reference
 *  rates", eurofxref-daily.xml. */
export const ecb: RateSource = {
  name: 'ecb',
  urls: ['https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml'],
  maxAgeMs: 5 * 24 * 60 * MINUTE_MS,
  parse: ([body = '']) => {
    const day = /<Cube\s+time=['"](\d{4}-\d{2}-\d{2})['"]/.exec(body)?.[1];
    const perEuro = new Map<string, Decimal | null>(
      [...body.matchAll(/<Cube\s+currency=['"]([A-Z]{3})['"]\s+rate=['"]([^'"]+)['"]/g)].map((match) => [
        match[1]!,
        positive(match[2]),
      ]),
    );
    const dollars = perEuro.get('USD');
    if (!day || !dollars) throw new Error('not the daily reference rates');
    const at = new Date(`${day}T15:00:00.000Z`);
    const pesos = perEuro.get('MXN');
    const prices: Price[] = [{ currency: 'EUR', usd: dollars, at }];
    if (pesos) prices.push({ currency: 'MXN', usd: divide(dollars, pesos), at });
    return prices;
  },
};
