import type { Volume } from '@cpg/sdk';

export interface DayVolume {
  readonly day: string;
  readonly amount: string;
  /** The request that lists the payments. Absent if there are none. */
  readonly list?: string;
}

/** What was applied per currency on each day of the report, days without a payment included. The currency with the most
 *  payments is first, and one without a payment is left out. */
export const volumeByDay = ({ from, to, days }: Volume): Map<string, DayVolume[]> => {
  const counts = new Map<string, number>();
  for (const { currency, count } of days.filter((day) => day.count > 0))
    counts.set(currency, (counts.get(currency) ?? 0) + count);
  const currencies = [...counts].sort((a, b) => b[1] - a[1]).map(([currency]) => currency);
  return new Map(
    currencies.map((currency) => [
      currency,
      daysBetween(from, to).map((day) => {
        const found = days.find((each) => each.day === day && each.currency === currency);
        return { day, amount: found?.applied_amount ?? '0', ...(found && { list: found.list }) };
      }),
    ]),
  );
};

const DAY_MS = 86_400_000;

/** Oldest first. */
const daysBetween = (from: string, to: string): string[] => {
  const days = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
};

/** A part of a whole in percent, rounded down, so that 100 % means all. */
export const percent = (part: number, whole: number): number | undefined =>
  whole === 0 ? undefined : Math.floor((part / whole) * 100);
