/** Formats for one locale, such as `es-MX`. */
export interface Format {
  readonly locale: string;
  /** All digits that count, and at least two decimals unless it is whole. */
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
  const withDecimals = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: MAX_DECIMALS });
  const unit = (name: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'long', maximumFractionDigits: 0 });
  const [second, minute, hour] = [unit('second'), unit('minute'), unit('hour')];
  const dateTime = dateTimeFormat(locale, 'UTC');
  const plurals = new Intl.PluralRules(locale);
  return {
    locale,
    amount: (decimal, currency) => `${withDecimals.format(decimal as `${number}`)} ${currency}`,
    number: (value) => whole.format(value as `${number}`),
    seconds: (value) => second.format(value),
    minutes: (value) =>
      value > 2 * MINUTES_PER_HOUR ? hour.format(Math.round(value / MINUTES_PER_HOUR)) : minute.format(value),
    dateTime: (instant) => dateTime(new Date(instant)),
    plural: (count, { one, other }) => (plurals.select(count) === 'one' ? one : other),
  };
};

/** Writes instants, on the server in UTC, in a browser in its own time zone. A line breaks only before the time. */
export const dateTimeFormat = (locale: string, timeZone?: 'UTC'): ((at: Date) => string) => {
  const format = new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone,
    timeZoneName: 'short',
  });
  return (at) => {
    const parts = format.formatToParts(at);
    const minute = parts.findIndex(({ type }) => type === 'minute');
    return parts.map(({ value }, n) => (n > minute ? value.replace(/\s/g, '\u00a0') : value)).join('');
  };
};
