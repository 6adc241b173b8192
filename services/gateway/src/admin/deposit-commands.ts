import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { spendingSecretIn } from '@cpg/assets';
import { type DepositSettingsCall, type DepositSettingsView, isAppError, TolerancePercent } from '@cpg/contracts';
import { newContext } from '@cpg/platform';
import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import type { Queryable } from '@cpg/platform/postgres';
import type { PaymentsClient } from '../api/payments/payments-client.ts';
import { findMerchant, MERCHANT, table } from './command.ts';

export interface DepositSettingsAdmin {
  readonly db: Queryable;
  readonly payments: Pick<PaymentsClient, 'depositSettings' | 'changeDepositSettings'>;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
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

const refundAddressTable = ({ refund_addresses: addresses }: DepositSettingsView): string =>
  addresses.length === 0
    ? 'The merchant has no refund address: it cannot request refunds that are proven on chain.'
    : table(
        ['NETWORK', 'ADDRESS'],
        addresses.map(({ network, address }) => [network, address]),
      );

/** Adds the commands on how the deposits of a merchant are received. Their output never has a key. */
export const addDepositSettingsCommands = (
  program: AdminCommand,
  withPayments: RunWith<DepositSettingsAdmin>,
): void => {
  const show = (merchantId: string, print: (settings: DepositSettingsView) => string) =>
    withPayments(async (admin) => print(await settingsOf(merchantId, admin)));
  const change = (merchantId: string, call: DepositSettingsCall, print: (settings: DepositSettingsView) => string) =>
    withPayments(async (admin) => print(await settingsOf(merchantId, admin, call)));
  const NETWORK = ['--network <network>', 'the network, with its name in deposit_instructions of an order'] as const;
  const REFUND_ADDRESS = ['--address <address>', 'the address, as the network writes it'] as const;
  const ASSET = ['--asset <asset>', 'the id of the asset (CAIP-19), as in the instructions of an order'] as const;

  const accounts = program
    .command('accounts')
    .description('extended public keys of merchants, whose addresses receive their deposits');
  accounts
    .command('show')
    .description('print which account receives deposits on each network')
    .argument(...MERCHANT)
    .examples('accounts show mer_01J8…')
    .runs((merchant: string) => show(merchant, accountTable));
  accounts
    .command('set')
    .description("receive a merchant's deposits on a network at addresses of its own extended public key")
    .argument(...MERCHANT)
    .requiredOption(...NETWORK)
    .option('--file <file>', 'the file with the key; - or without it: standard input. Never on the command line', '-')
    .examples('accounts set mer_01J8… --network bitcoin --file key.txt', 'accounts set mer_01J8… --network bitcoin')
    .runs((merchant: string, { network, file }: { network: string; file: string }) =>
      withPayments(async (admin) => {
        const key = await readKey(file, admin.stdin);
        const settings = await settingsOf(merchant, admin, { change: 'set_account', network, key });
        return [accountTable(settings), '', ...adviceOn(settings, network)].join('\n');
      }),
    );
  accounts
    .command('remove')
    .description('receive them at the account of the platform again')
    .argument(...MERCHANT)
    .requiredOption(...NETWORK)
    .examples('accounts remove mer_01J8… --network bitcoin')
    .runs((merchant: string, { network }: { network: string }) =>
      change(merchant, { change: 'remove_account', network }, accountTable),
    );

  const confirmations = program
    .command('confirmations')
    .description('how many confirmations the payments of a merchant need');
  confirmations
    .command('show')
    .description('print the confirmations that apply')
    .argument(...MERCHANT)
    .examples('confirmations show mer_01J8…')
    .runs((merchant: string) => show(merchant, confirmationTable));
  confirmations
    .command('set')
    .description('payments of an asset apply after this number of confirmations')
    .argument(...MERCHANT)
    .requiredOption(...ASSET)
    .requiredOption('--confirmations <number>', 'the number of confirmations')
    .option('--from <amount>', 'only payments of at least this amount')
    .examples('confirmations set mer_01J8… --asset eip155:1/slip44:60 --confirmations 20 --from 1.5')
    .runs((merchant: string, { confirmations: text, ...options }: ConfirmationOptions) =>
      change(
        merchant,
        { change: 'set_confirmations', confirmations: wholeNumber(text), ...options },
        confirmationTable,
      ),
    );
  confirmations
    .command('remove')
    .description('apply those of the asset table again')
    .argument(...MERCHANT)
    .requiredOption(...ASSET)
    .examples('confirmations remove mer_01J8… --asset eip155:1/slip44:60')
    .runs((merchant: string, { asset }: { asset: string }) =>
      change(merchant, { change: 'remove_confirmations', asset }, confirmationTable),
    );

  const tolerance = program.command('tolerance').description('how much may be missing of the orders of a merchant');
  tolerance
    .command('show')
    .description('print the tolerance that applies')
    .argument(...MERCHANT)
    .examples('tolerance show mer_01J8…')
    .runs((merchant: string) => show(merchant, toleranceLine));
  tolerance
    .command('set')
    .description('settle new orders of which at most a part is missing; an order can have a tolerance of its own')
    .argument(...MERCHANT)
    .requiredOption('--percent <percent>', '0 to 5; without any tolerance 0')
    .examples('tolerance set mer_01J8… --percent 0.5')
    .runs((merchant: string, { percent }: { percent: string }) =>
      change(merchant, { change: 'set_tolerance', percent: percentIn(percent) }, toleranceLine),
    );

  const refundAddresses = program
    .command('refund-addresses')
    .description('addresses from which the wallets of merchants send refunds');
  refundAddresses
    .command('show')
    .description('print the refund addresses of a merchant')
    .argument(...MERCHANT)
    .examples('refund-addresses show mer_01J8…')
    .runs((merchant: string) => show(merchant, refundAddressTable));
  refundAddresses
    .command('add')
    .description('a transfer from this address proves a refund that was requested with "settle": "on_chain"')
    .argument(...MERCHANT)
    .requiredOption(...NETWORK)
    .requiredOption(...REFUND_ADDRESS)
    .examples('refund-addresses add mer_01J8… --network ethereum --address 0xfB69…')
    .runs((merchant: string, { network, address }: { network: string; address: string }) =>
      change(merchant, { change: 'add_refund_address', network, address }, refundAddressTable),
    );
  refundAddresses
    .command('remove')
    .description('a transfer from this address proves no later refund')
    .argument(...MERCHANT)
    .requiredOption(...NETWORK)
    .requiredOption(...REFUND_ADDRESS)
    .examples('refund-addresses remove mer_01J8… --network ethereum --address 0xfB69…')
    .runs((merchant: string, { network, address }: { network: string; address: string }) =>
      change(merchant, { change: 'remove_refund_address', network, address }, refundAddressTable),
    );
};

interface ConfirmationOptions {
  readonly asset: string;
  readonly confirmations: string;
  readonly from?: string;
}

/** Changes the settings if there is a `call`. Throws CommandError. */
const settingsOf = async (
  merchantId: string,
  { db, payments }: DepositSettingsAdmin,
  call?: DepositSettingsCall,
): Promise<DepositSettingsView> => {
  await findMerchant(db, merchantId);
  const context = newContext('admin');
  try {
    return call
      ? await payments.changeDepositSettings(merchantId, call, context)
      : await payments.depositSettings(merchantId, context);
  } catch (error) {
    throw isAppError(error, 'invalid_request') ? new CommandError(error.message) : error;
  }
};

const wholeNumber = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new CommandError('--confirmations must be a whole number');
  return Number(text);
};

const percentIn = (text: string): number => {
  const percent = /^\d+(\.\d+)?$/.test(text) ? TolerancePercent.safeParse(Number(text)) : null;
  if (!percent?.success) throw new CommandError('--percent must be 0 to 5, with at most 2 decimals');
  return percent.data;
};

const readKey = async (file: string, stdin: DepositSettingsAdmin['stdin']): Promise<string> => {
  if (file === '-' && stdin.isTTY) process.stderr.write('Paste the extended public key, press Enter, then Ctrl-D.\n');
  const text = await (file === '-' ? readAll(stdin) : readFile(file, 'utf8')).catch((error: unknown) => {
    // Without the path, which may be a key by mistake.
    throw new CommandError(`cannot read the file of the key: ${(error as NodeJS.ErrnoException).code}`);
  });
  const key = text.trim();
  if (key === '') throw new CommandError('the extended public key is missing: give it in a file or on standard input');
  const secret = spendingSecretIn(key);
  if (secret)
    throw new CommandError(
      `this is a ${secret}: whoever reads it can spend what its wallet holds. It was not sent anywhere, and nothing was ` +
        'changed. Remove it from this machine, and give the extended public key of the account (xpub, zpub, tpub, vpub), ' +
        `which cannot spend. If anybody else could read the ${secret}, move the money to a new wallet`,
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
