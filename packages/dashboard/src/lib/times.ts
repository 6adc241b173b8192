const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const DAYS_IN_WORDS = 7;

/** `3 minutes ago`, `in 2 hours`; undefined for a time more than a week away, which is better read as a date. */
export const relativeTime = (time: string, nowMs: number, locale?: string): string | undefined => {
  const seconds = Math.round((Date.parse(time) - nowMs) / 1000);
  if (Number.isNaN(seconds) || Math.abs(seconds) > DAYS_IN_WORDS * 86_400) return undefined;
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  if (!unit) return format.format(0, 'second');
  return format.format(Math.trunc(seconds / unit[1]), unit[0]);
};

/** Date and time in the time zone of the reader. Other text comes back as it is. */
export const formatTime = (time: string, locale?: string): string => {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return time;
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }).format(at);
};

/** A day of the calendar, such as `2026-01-31`. Other text comes back as it is. */
export const formatDay = (day: string, locale?: string): string => {
  // Noon is on the same day in every time zone.
  const at = new Date(`${day}T12:00:00`);
  if (Number.isNaN(at.getTime())) return day;
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(at);
};

export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
