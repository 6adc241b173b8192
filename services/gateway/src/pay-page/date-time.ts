/** How the page writes an instant: on the server in UTC, in a browser in its own time zone. */
export const dateTimeFormat = (locale: string, timeZone?: 'UTC'): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone,
    timeZoneName: 'short',
  });
