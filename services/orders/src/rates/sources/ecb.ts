import type { Decimal } from '@cpg/contracts';
import { divide, HOUR_MS, positive, type Price, type RateSource } from './source.ts';

/** The reference rates of the European Central Bank: units of each currency per euro. Central banks agree on them at
 *  14:15 in Frankfurt on each working day, and the ECB publishes them around 16:00. They stay valid until the next
 *  working day's are due, with an hour to spare, but not over a weekend. Source: ECB, "Euro foreign exchange reference
 *  rates", eurofxref-daily.xml. */
export const ecb: RateSource = {
  name: 'ecb',
  currencies: ['EUR', 'MXN', 'BRL', 'GBP', 'CHF', 'CAD', 'AUD', 'JPY'],
  maxAgeMs: 27 * HOUR_MS,
  isDaily: true,
  prices: async (read, currencies) => {
    const { body } = await read('https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml');
    const day = /<Cube\s+time=['"](\d{4}-\d{2}-\d{2})['"]/.exec(body)?.[1];
    const perEuro = new Map<string, Decimal | null>(
      [...body.matchAll(/<Cube\s+currency=['"]([A-Z]{3})['"]\s+rate=['"]([^'"]+)['"]/g)].map((match) => [
        match[1]!,
        positive(match[2]),
      ]),
    );
    const dollars = perEuro.get('USD');
    if (!day || !dollars) throw new Error('not the daily reference rates');
    const at = agreedOn(day);
    return currencies.flatMap((currency): Price[] => {
      if (currency === 'EUR') return [{ currency, usd: dollars, at }];
      const units = perEuro.get(currency);
      return units ? [{ currency, usd: divide(dollars, units), at }] : [];
    });
  },
};

const frankfurtHour = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', hour: '2-digit' });

/** 14:15 in Frankfurt on a day: 13:15 UTC in winter, 12:15 UTC in summer. */
const agreedOn = (day: string): Date => {
  const inWinter = new Date(`${day}T13:15:00.000Z`);
  return frankfurtHour.format(inWinter) === '14' ? inWinter : new Date(inWinter.getTime() - HOUR_MS);
};
