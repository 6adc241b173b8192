import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import type { ApiKey } from '../door/keys/api-key.ts';
import { AUDIT_USAGE } from './audit.ts';
import { confirmClock, showClocks } from './clock.ts';
import { AdminError, parseOptions } from './command.ts';
import { DEPOSIT_SETTINGS_USAGE } from './deposit-commands.ts';
import { createKey, type KeyAdmin, keyTable, parseDuration, revokeKey, rotateKey } from './keys.ts';
import { changeMerchant, createMerchant, merchantTable, setPaymentPage, showPaymentPage } from './merchants.ts';
import { SECRETS_USAGE } from './secrets.ts';
import { WEBHOOKS_USAGE } from './webhooks.ts';

export const USAGE = `Manage merchants and API keys, forward sandbox webhooks, and print the history of orders.

  merchants create --file merchant.json          create a merchant from a CreateMerchantDto; - reads standard input
  merchants list                                 list all merchants
  merchants update MERCHANT --file changes.json  replace the given fields; null removes a field

  payment-page show MERCHANT                     print how the payment page looks for a merchant
  payment-page set MERCHANT --file page.json [--logo logo.png]
                                                 replace that; the file is a PaymentPageSettingsDto

  keys create MERCHANT --scopes all|LIST [--allow-ip LIST] [--expires TIME]
                                                 create an API key and print it once
  keys list MERCHANT                             list the API keys of a merchant
  keys rotate KID [--overlap 24h]                create a successor; the old key stays valid for the overlap
  keys revoke KID                                revoke an API key

  clock show                                     print the clocks, to compare them with a watch
  clock confirm TIME --by NAME --reason TEXT     say that this is the time now: what waits for the clock goes on

${DEPOSIT_SETTINGS_USAGE}

${SECRETS_USAGE}

${WEBHOOKS_USAGE}

${AUDIT_USAGE}

LIST is comma-separated. TIME is like 2027-01-31T12:00:00Z, a duration is like 30m, 24h or 7d.
The commands read DATABASE_URL, API_KEY_PEPPER and ENVIRONMENT from the environment.`;

const OPTION_NAMES = ['file', 'logo', 'scopes', 'allow-ip', 'expires', 'overlap', 'by', 'reason'] as const;
type Options = Partial<Record<(typeof OPTION_NAMES)[number], string>>;
type Command = (admin: KeyAdmin, subject: string, options: Options) => Promise<string>;

const COMMANDS: Record<string, { takes: 'nothing' | 'MERCHANT' | 'KID' | 'TIME'; run: Command }> = {
  'merchants create': {
    takes: 'nothing',
    run: async ({ pool, now }, _, { file }) => pretty(await createMerchant(pool, await readJson(file), now())),
  },
  'merchants list': { takes: 'nothing', run: ({ pool }) => merchantTable(pool) },
  'merchants update': {
    takes: 'MERCHANT',
    run: async ({ pool, now }, id, { file }) => pretty(await changeMerchant(pool, id, await readJson(file), now())),
  },
  'payment-page show': {
    takes: 'MERCHANT',
    run: async ({ pool }, id) => pretty(await showPaymentPage(pool, id)),
  },
  'payment-page set': {
    takes: 'MERCHANT',
    run: async (admin, id, { file, logo }) => {
      const image = logo === undefined ? {} : { logo: (await readFile(logo)).toString('base64') };
      return pretty(await setPaymentPage(admin, id, { ...((await readJson(file)) as object), ...image }));
    },
  },
  'keys create': {
    takes: 'MERCHANT',
    run: async (admin, merchantId, { scopes, 'allow-ip': allowedIps, expires }) => {
      if (scopes === undefined) throw new AdminError('--scopes is missing: list the scopes that the key needs, or all');
      return formatKey(await createKey(admin, { merchantId, scopes, allowedIps, expires }));
    },
  },
  'keys list': { takes: 'MERCHANT', run: keyTable },
  'keys rotate': {
    takes: 'KID',
    run: async (admin, kid, { overlap = '24h' }) =>
      `${formatKey(await rotateKey(admin, { kid, overlapMs: parseDuration(overlap) }))}\nkey ${kid} stays valid for ${overlap}`,
  },
  'keys revoke': {
    takes: 'KID',
    run: async (admin, kid) => {
      await revokeKey(admin, kid);
      return `key ${kid} is revoked`;
    },
  },
  'clock show': { takes: 'nothing', run: ({ pool, now }) => showClocks(pool, now) },
  'clock confirm': {
    takes: 'TIME',
    run: ({ pool, now }, time, { by, reason }) => confirmClock(pool, now, { time, by, reason }),
  },
};

/** Runs one command and returns its output. Throws AdminError for expected failures. */
export const runCommand = async (args: readonly string[], admin: KeyAdmin): Promise<string> => {
  const { positionals, values } = parseOptions(args, OPTION_NAMES, USAGE);
  const [noun = '', verb = '', subject, ...rest] = positionals;
  const command = COMMANDS[`${noun} ${verb}`];
  if (!command) throw new AdminError(USAGE);
  if (command.takes === 'nothing' ? subject !== undefined : subject === undefined || rest.length > 0) {
    throw new AdminError(
      `${noun} ${verb} takes ${command.takes === 'nothing' ? 'no argument' : `one argument: ${command.takes}`}\n\n${USAGE}`,
    );
  }
  return command.run(admin, subject ?? '', values);
};

const readJson = async (file: string | undefined): Promise<unknown> => {
  if (file === undefined) throw new AdminError('--file is missing: give a JSON file, or - for standard input');
  try {
    return JSON.parse(file === '-' ? await readAll(process.stdin) : await readFile(file, 'utf8'));
  } catch (error) {
    throw new AdminError(`cannot read ${file}: ${(error as Error).message}`);
  }
};

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

const formatKey = (key: ApiKey): string => `${key.text}\nkid ${key.kid}. The key is shown only once: store it safely.`;
