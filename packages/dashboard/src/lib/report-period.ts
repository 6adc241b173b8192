import { type Search, valueOf } from './search-params.ts';

/** The periods that a report offers. `own` has its days in the address. */
export const PERIODS = ['today', 'last_7_days', 'last_30_days', 'this_month', 'last_month', 'own'] as const;
type PeriodName = (typeof PERIODS)[number];

/** The API sums no more days in one request. */
const MAX_DAYS = 31;

interface Days {
  /** The first day, `2026-01-31`. */
  readonly from: string;
  readonly to: string;
}

type Fault = 'unknown_period' | 'unknown_timezone' | 'no_days' | 'backwards' | 'too_long';

/** The period of a report, as an address names it. */
export interface ReportPeriod extends Days {
  readonly name: string;
  readonly timezone: string;
  /** Why there is no report. */
  readonly fault: Fault | undefined;
}

export const readPeriod = (search: Search, browserTimezone: string, nowMs: number): ReportPeriod => {
  const timezone = valueOf(search, 'timezone') ?? browserTimezone;
  const name = valueOf(search, 'period') ?? 'last_30_days';
  const own = { from: valueOf(search, 'from') ?? '', to: valueOf(search, 'to') ?? '' };
  if (!isTimezone(timezone)) return { name, timezone, ...own, fault: 'unknown_timezone' };
  if (!isPeriod(name)) return { name, timezone, ...own, fault: 'unknown_period' };
  const days = name === 'own' ? own : daysOf(name, dayIn(timezone, nowMs));
  return { name, timezone, ...days, fault: faultOf(days) };
};

const isPeriod = (name: string): name is PeriodName => (PERIODS as readonly string[]).includes(name);

const isTimezone = (name: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

const faultOf = ({ from, to }: Days): Fault | undefined => {
  if (!isDay(from) || !isDay(to)) return 'no_days';
  if (from > to) return 'backwards';
  return from < daysAfter(to, 1 - MAX_DAYS) ? 'too_long' : undefined;
};

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

const daysOf = (name: Exclude<PeriodName, 'own'>, today: string): Days => {
  const firstOfMonth = `${today.slice(0, 7)}-01`;
  switch (name) {
    case 'today':
      return { from: today, to: today };
    case 'last_7_days':
      return { from: daysAfter(today, -6), to: today };
    case 'last_30_days':
      return { from: daysAfter(today, -29), to: today };
    case 'this_month':
      return { from: firstOfMonth, to: today };
    case 'last_month': {
      const to = daysAfter(firstOfMonth, -1);
      return { from: `${to.slice(0, 7)}-01`, to };
    }
  }
};

const DAY_MS = 86_400_000;

const daysAfter = (day: string, count: number): string =>
  new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);

/** The day of a moment on the calendar of a time zone. */
const dayIn = (timezone: string, atMs: number): string => {
  const format = new Intl.DateTimeFormat('en', {
    ...{ timeZone: timezone, calendar: 'gregory', numberingSystem: 'latn' },
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  });
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
};
