import { ConfigError } from '@cpg/runtime';

/** PostgreSQL settings by name. */
export type SessionSettings = Readonly<Record<string, string | number>>;

// Ends the transaction of a frozen process, which releases the locks that others wait for.
const DEFAULTS: SessionSettings = { idle_in_transaction_session_timeout: 5_000 };

/** Adds settings to a database URL. Each session starts with `defaults`, then the settings already in the URL, then
 *  those of every session and `settings`; a later value wins. (`pg` ignores its `options` argument when the URL already
 *  has options.) */
export const withSessionSettings = (
  databaseUrl: string,
  settings: SessionSettings = {},
  defaults: SessionSettings = {},
): string => {
  // The error of `new URL` has the text, and so the password.
  if (!URL.canParse(databaseUrl)) throw new ConfigError('DATABASE_URL: must be a postgres:// URL');
  const url = new URL(databaseUrl);
  const optionsOf = (values: SessionSettings) => Object.entries(values).map(([name, value]) => `-c ${name}=${value}`);
  const given = url.searchParams.get('options');
  const options = [...optionsOf(defaults), given, ...optionsOf({ ...DEFAULTS, ...settings })];
  url.searchParams.set('options', options.filter(Boolean).join(' '));
  return url.toString();
};
