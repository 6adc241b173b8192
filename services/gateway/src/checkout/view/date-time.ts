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
