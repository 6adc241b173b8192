import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import type { ApiKey } from '../keys/api-key.ts';
import { AdminFault } from './fault.ts';
import { createKey, type KeyAdmin, revokeKey, rotateKey, showKeys, spanIn } from './keys.ts';
import { changeMerchant, createMerchant, showMerchants } from './merchants.ts';
import { WEBHOOKS_USAGE } from './webhooks.ts';
import { AUDIT_USAGE } from './audit.ts';

export const USAGE = `Merchants and their API keys, the webhooks of a sandbox, and the history of orders.

  merchants create --file merchant.json          as CreateMerchantDto; - reads standard input
  merchants list
  merchants update MERCHANT --file changes.json  replaces the fields given; null takes one away

  keys create MERCHANT --scopes all|LIST [--allow-ip LIST] [--expires INSTANT]
  keys list MERCHANT
  keys rotate KID [--overlap 24h]                a new key; the old one works on so long
  keys revoke KID

${WEBHOOKS_USAGE}

${AUDIT_USAGE}

LIST is separated by commas. INSTANT is like 2027-01-31T12:00:00Z, a span like 30m, 24h, 7d.
DATABASE_URL, API_KEY_PEPPER and ENVIRONMENT are read from the environment.`;

type Options = Partial<Record<'file' | 'scopes' | 'allow-ip' | 'expires' | 'overlap', string>>;
type Command = (admin: KeyAdmin, subject: string, options: Options) => Promise<string>;

const COMMANDS: Record<string, { takes: 'nothing' | 'MERCHANT' | 'KID'; run: Command }> = {
  'merchants create': {
    takes: 'nothing',
    run: async ({ pool, now }, _, { file }) => pretty(await createMerchant(pool, await jsonIn(file), now())),
  },
  'merchants list': { takes: 'nothing', run: ({ pool }) => showMerchants(pool) },
  'merchants update': {
    takes: 'MERCHANT',
    run: async ({ pool, now }, id, { file }) => pretty(await changeMerchant(pool, id, await jsonIn(file), now())),
  },
  'keys create': {
    takes: 'MERCHANT',
    run: async (admin, merchantId, { scopes, 'allow-ip': allowedIps, expires }) => {
      if (scopes === undefined) throw new AdminFault('--scopes is missing: name the fewest that will do, or all');
      return shown(await createKey(admin, { merchantId, scopes, allowedIps, expires }));
    },
  },
  'keys list': { takes: 'MERCHANT', run: showKeys },
  'keys rotate': {
    takes: 'KID',
    run: async (admin, kid, { overlap = '24h' }) =>
      `${shown(await rotateKey(admin, { kid, overlapMs: spanIn(overlap) }))}\nkey ${kid} works on for ${overlap}`,
  },
  'keys revoke': {
    takes: 'KID',
    run: async (admin, kid) => {
      await revokeKey(admin, kid);
      return `key ${kid} is revoked`;
    },
  },
};

/** Runs one command; what comes back is for standard output. Throws AdminFault for what cannot be done. */
export const runCommand = async (args: readonly string[], admin: KeyAdmin): Promise<string> => {
  const { positionals, values } = parse(args);
  const [noun = '', verb = '', subject, ...more] = positionals;
  const command = COMMANDS[`${noun} ${verb}`];
  if (!command) throw new AdminFault(USAGE);
  if (command.takes === 'nothing' ? subject !== undefined : subject === undefined || more.length > 0) {
    throw new AdminFault(
      `${noun} ${verb} takes ${command.takes === 'nothing' ? 'nothing more' : `one ${command.takes}`}\n\n${USAGE}`,
    );
  }
  return command.run(admin, subject ?? '', values);
};

const parse = (args: readonly string[]) => {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { file: text, scopes: text, 'allow-ip': text, expires: text, overlap: text },
    });
  } catch (error) {
    throw new AdminFault(`${(error as Error).message}\n\n${USAGE}`);
  }
};

const jsonIn = async (file: string | undefined): Promise<unknown> => {
  if (file === undefined) throw new AdminFault('--file is missing: name a JSON file, or - for standard input');
  try {
    return JSON.parse(file === '-' ? await readAll(process.stdin) : await readFile(file, 'utf8'));
  } catch (error) {
    throw new AdminFault(`cannot read ${file}: ${(error as Error).message}`);
  }
};

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

const shown = (key: ApiKey): string => `${key.text}\nkid ${key.kid}. The key is shown this once: keep it safe.`;
