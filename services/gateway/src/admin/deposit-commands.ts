import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { type DepositSettingsCall, type DepositSettingsView, isAppError, TolerancePercent } from '@cpg/contracts';
import { newContext } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { merchantById } from '../api/merchants/merchant-queries.ts';
import type { PaymentsClient } from '../api/payments/payments-client.ts';
import { AdminError, parseOptions, table } from './command.ts';

export const DEPOSIT_SETTINGS_USAGE = `  accounts set --merchant M --network N [--file F]
                                                 receive the merchant's deposits on a network at addresses of its own
                                                 extended public key, from a file or standard input
  accounts show --merchant M                     print which account receives deposits on each network
  accounts remove --merchant M --network N       receive them at the account of the platform again

  confirmations set --merchant M --asset ID --confirmations N [--from AMOUNT]
                                                 payments of an asset, of at least AMOUNT, apply after N confirmations
  confirmations show --merchant M                print the confirmations that apply
  confirmations remove --merchant M --asset ID   apply those of the asset table again

  tolerance set --merchant M --percent P         settle new orders of which at most P percent are missing (0 to 5, 0 by
                                                 default); an order can have a tolerance of its own
  tolerance show --merchant M                    print the tolerance that applies`;

export interface DepositSettingsAdmin {
  readonly db: Queryable;
  readonly payments: Pick<PaymentsClient, 'depositSettings' | 'changeDepositSettings'>;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
}

const OPTION_NAMES = ['merchant', 'network', 'file', 'asset', 'confirmations', 'from', 'percent'] as const;
type OptionName = (typeof OPTION_NAMES)[number];
type Options = Partial<Record<OptionName, string>>;

interface Command {
  readonly takes: readonly OptionName[];
  /** Undefined to show the settings alone. */
  readonly callOf?: (options: Options, admin: DepositSettingsAdmin) => Promise<DepositSettingsCall>;
  readonly print: (settings: DepositSettingsView, options: Options) => string;
}

const accountTable = ({ accounts }: DepositSettingsView): string =>
  table(
    ['NETWORK', 'FINGERPRINT', 'OF', 'FIRST ADDRESS'],
    accounts.map(({ network, fingerprint, owner, first_address }) => [network, fingerprint, owner, first_address]),
  );

const confirmationTable = ({ confirmations }: DepositSettingsView): string =>
  table(
    ['ASSET', 'CURRENCY', 'NETWORK', 'FROM', 'CONFIRMATIONS', 'OF'],
    confirmations.map((row) => [
      ...[row.asset, row.currency, row.network, row.from],
      ...[String(row.confirmations), row.owner],
    ]),
  );

const toleranceLine = ({ underpayment_tolerance_percent: percent }: DepositSettingsView): string =>
  percent === 0
    ? 'Orders need their whole total, unless they have a tolerance of their own.'
    : `New orders are settled when at most ${percent} % of their total are missing, unless they have a tolerance of their own.`;

const COMMANDS: Record<string, Command> = {
  'accounts show': { takes: ['merchant'], print: accountTable },
  'accounts set': {
    takes: ['merchant', 'network', 'file'],
    callOf: async (options, { stdin }) => ({
      change: 'set_account',
      network: required(options, 'network'),
      key: await readKey(options.file, stdin),
    }),
    print: (settings, { network }) => [accountTable(settings), '', ...adviceOn(settings, network!)].join('\n'),
  },
  'accounts remove': {
    takes: ['merchant', 'network'],
    callOf: async (options) => ({ change: 'remove_account', network: required(options, 'network') }),
    print: accountTable,
  },
  'confirmations show': { takes: ['merchant'], print: confirmationTable },
  'confirmations set': {
    takes: ['merchant', 'asset', 'confirmations', 'from'],
    callOf: async (options) => ({
      change: 'set_confirmations',
      asset: required(options, 'asset'),
      confirmations: wholeNumber(required(options, 'confirmations')),
      ...(options.from !== undefined && { from: options.from }),
    }),
    print: confirmationTable,
  },
  'confirmations remove': {
    takes: ['merchant', 'asset'],
    callOf: async (options) => ({ change: 'remove_confirmations', asset: required(options, 'asset') }),
    print: confirmationTable,
  },
  'tolerance show': { takes: ['merchant'], print: toleranceLine },
  'tolerance set': {
    takes: ['merchant', 'percent'],
    callOf: async (options) => ({ change: 'set_tolerance', percent: percentIn(required(options, 'percent')) }),
    print: toleranceLine,
  },
};

/** Runs an `accounts`, `confirmations` or `tolerance` command and returns its output, which never has a key. Throws
 *  AdminError for expected failures. */
export const runDepositSettingsCommand = async (
  args: readonly string[],
  admin: DepositSettingsAdmin,
): Promise<string> => {
  const { positionals, values: options } = parseOptions(args, OPTION_NAMES, DEPOSIT_SETTINGS_USAGE);
  const command = COMMANDS[positionals.slice(0, 2).join(' ')];
  // The message repeats no argument: it could be a key.
  if (!command || positionals.length > 2) throw new AdminError(DEPOSIT_SETTINGS_USAGE);
  const others = OPTION_NAMES.filter((name) => options[name] !== undefined && !command.takes.includes(name));
  if (others.length > 0) throw new AdminError(`--${others[0]} has no meaning here\n\n${DEPOSIT_SETTINGS_USAGE}`);
  const merchantId = required(options, 'merchant');
  if (!(await merchantById(admin.db, merchantId))) throw new AdminError(`there is no merchant ${merchantId}`);
  const call = await command.callOf?.(options, admin);
  const context = newContext('admin');
  try {
    const settings = call
      ? await admin.payments.changeDepositSettings(merchantId, call, context)
      : await admin.payments.depositSettings(merchantId, context);
    return command.print(settings, options);
  } catch (error) {
    throw isAppError(error, 'invalid_request') ? new AdminError(error.message) : error;
  }
};

const required = (options: Options, name: OptionName): string => {
  const value = options[name];
  if (value === undefined) throw new AdminError(`--${name} is missing\n\n${DEPOSIT_SETTINGS_USAGE}`);
  return value;
};

const wholeNumber = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new AdminError('--confirmations must be a whole number');
  return Number(text);
};

const percentIn = (text: string): number => {
  const percent = /^\d+(\.\d+)?$/.test(text) ? TolerancePercent.safeParse(Number(text)) : null;
  if (!percent?.success) throw new AdminError('--percent must be 0 to 5, with at most 2 decimals');
  return percent.data;
};

const readKey = async (file: string | undefined, stdin: DepositSettingsAdmin['stdin']): Promise<string> => {
  if (file === undefined && stdin.isTTY)
    process.stderr.write('Paste the extended public key, press Enter, then Ctrl-D.\n');
  const text = await (file === undefined || file === '-' ? readAll(stdin) : readFile(file, 'utf8')).catch(
    (error: unknown) => {
      // Without the path, which may be a key by mistake.
      throw new AdminError(`cannot read the file of the key: ${(error as NodeJS.ErrnoException).code}`);
    },
  );
  const key = text.trim();
  if (key === '') throw new AdminError('the extended public key is missing: give it in a file or on standard input');
  // Payments refuses it as well; a private key should not leave this process.
  if (/^.prv/.test(key))
    throw new AdminError(
      'this is a private key: give the extended public key, which cannot spend, and keep this one safe',
    );
  return key;
};

const adviceOn = ({ accounts }: DepositSettingsView, name: string): string[] => {
  const account = accounts.find(({ network }) => network === name)!;
  return [
    `New orders of the merchant on ${name} show addresses of account ${account.fingerprint} within seconds.`,
    `Compare ${account.first_address} with the first receiving address of the wallet before the first order.`,
    ...(account.depth === 3
      ? []
      : [
          `The key is at depth ${account.depth}, not 3: check that the wallet looks for payments at path 0/i below it.`,
        ]),
  ];
};
