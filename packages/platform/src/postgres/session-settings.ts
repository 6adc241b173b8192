import { ConfigError } from '../config/config.ts';

/** PostgreSQL settings by name. */
export type SessionSettings = Readonly<Record<string, string | number>>;

// Ends the transaction of a frozen process, which releases the locks that others wait for.
const DEFAULTS: SessionSettings = { idle_in_transaction_session_timeout: 5_000 };

/** The statement that a new session begins with: `settings` and those of every session, and the `defaults` that the
 *  options of the database URL do not set. A pooler refuses or drops settings in the startup message. */
export const sessionSettings = (
  databaseUrl: string,
  settings: SessionSettings = {},
  defaults: SessionSettings = {},
): string => {
  // The error of `new URL` has the text, and so the password.
  if (!URL.canParse(databaseUrl)) throw new ConfigError('DATABASE_URL: must be a postgres:// URL');
  const given = new URL(databaseUrl).searchParams.get('options') ?? '';
  // Options can be written as `-c statement_timeout=1s` or `--statement-timeout=1s`.
  const isGiven = (name: string) => given.replaceAll('-', '_').includes(`${name}=`);
  const unset = Object.entries(defaults).filter(([name]) => !isGiven(name));
  return [...unset, ...Object.entries({ ...DEFAULTS, ...settings })]
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join('; ');
};
