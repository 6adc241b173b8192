import { FiatCurrency, priceDecimals } from '@cpg/contracts';
import { dateTimeFormat } from './date-time.ts';

/** Formats for one locale, such as `es-MX`. */
export interface Format {
  readonly locale: string;
  /** All digits that count, and at least the decimals of a currency of a bank; at least two of a coin. */
  readonly amount: (decimal: string, currency: string) => string;
  readonly number: (value: number | string) => string;
  readonly seconds: (value: number) => string;
  readonly minutes: (value: number) => string;
  /** In UTC, and says so. */
  readonly dateTime: (instant: string) => string;
  readonly plural: (count: number, texts: PluralTexts) => string;
}

interface PluralTexts {
  readonly one: string;
  readonly other: string;
}

// Currencies have up to 18 decimals, more than a double holds.
const MAX_DECIMALS = 20;
const MINUTES_PER_HOUR = 60;

export const formatFor = (locale: string): Format => {
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: MAX_DECIMALS });
  const amounts = new Map<number, Intl.NumberFormat>();
  const amountFormat = (least: number): Intl.NumberFormat => {
    const known = amounts.get(least);
    if (known) return known;
    const made = new Intl.NumberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: MAX_DECIMALS });
    amounts.set(least, made);
    return made;
  };
  const unit = (name: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'long', maximumFractionDigits: 0 });
  const [second, minute, hour] = [unit('second'), unit('minute'), unit('hour')];
  const dateTime = dateTimeFormat(locale, 'UTC');
  const plurals = new Intl.PluralRules(locale);
  return {
    locale,
    amount: (decimal, currency) =>
      `${amountFormat(leastDecimals(currency)).format(decimal as `${number}`)} ${currency}`,
    number: (value) => whole.format(value as `${number}`),
    seconds: (value) => second.format(value),
    minutes: (value) =>
      value > 2 * MINUTES_PER_HOUR ? hour.format(Math.round(value / MINUTES_PER_HOUR)) : minute.format(value),
    dateTime: (instant) => dateTime(new Date(instant)),
    plural: (count, { one, other }) => (plurals.select(count) === 'one' ? one : other),
  };
};

const COIN_DECIMALS = 2;

/** The fewest decimals that an amount is shown with. */
const leastDecimals = (currency: string): number => {
  const fiat = FiatCurrency.safeParse(currency);
  return fiat.success ? priceDecimals(fiat.data) : COIN_DECIMALS;
};
