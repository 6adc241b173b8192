/** Settings of PostgreSQL by name. */
export type Settings = Readonly<Record<string, string | number>>;

// A process that is frozen within a transaction loses it, and with it the locks that others wait for.
const EVERY_SESSION: Settings = { idle_in_transaction_session_timeout: 5_000 };

/** The address of a database with settings that each session begins with, after those that the address brings along. (`pg` drops settings
 *  that it is given beside an address that has some.) */
export const withSettings = (address: string, settings: Settings = {}): string => {
  const url = new URL(address);
  const ours = Object.entries({ ...EVERY_SESSION, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  url.searchParams.set('options', [url.searchParams.get('options'), ...ours].filter(Boolean).join(' '));
  return url.toString();
};
