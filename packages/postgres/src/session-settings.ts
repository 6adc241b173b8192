/** PostgreSQL settings by name. */
export type SessionSettings = Readonly<Record<string, string | number>>;

// Ends the transaction of a frozen process, which releases the locks that others wait for.
const DEFAULTS: SessionSettings = { idle_in_transaction_session_timeout: 5_000 };

/** Adds settings to a database URL. Each session starts with the settings already in the URL, then the defaults, then
 *  `settings`. (`pg` ignores its `options` argument when the URL already has options.) */
export const withSessionSettings = (databaseUrl: string, settings: SessionSettings = {}): string => {
  const url = new URL(databaseUrl);
  const added = Object.entries({ ...DEFAULTS, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  url.searchParams.set('options', [url.searchParams.get('options'), ...added].filter(Boolean).join(' '));
  return url.toString();
};
