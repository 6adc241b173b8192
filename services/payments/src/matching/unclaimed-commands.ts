import { userInfo } from 'node:os';
import type { Network } from '@cpg/assets';
import {
  AppError,
  chainOf,
  derivedId,
  fromMinor,
  ID_PREFIXES,
  MerchantId,
  NewPaymentEvent,
  OrderId,
  PaymentEvent,
  PaymentId,
} from '@cpg/contracts';
import { commandHandler, readHistoryEntries } from '@cpg/event-sourcing';
import { newContext } from '@cpg/platform';
import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import { isReadable, type Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { findOrder } from '../payables/payable.ts';
import type { AssignPayment, PaymentCommand } from '../payment/command.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import { paymentDecider } from '../payment/payment.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { type UnclaimedPayment, unclaimedPayments } from './unclaimed-payments.ts';

export interface UnclaimedCommand {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly networks: readonly Pick<Network, 'name' | 'chainId'>[];
  readonly now: () => Date;
  readonly print: (line: string) => void;
}

interface Options {
  readonly order?: string;
  readonly merchant?: string;
  readonly reason?: string;
  readonly tx?: string;
  readonly by?: string;
}
type OptionName = keyof Options;

/** Adds the commands on money that came for no known order. */
export const addUnclaimedCommands = (program: AdminCommand, withCommand: RunWith<UnclaimedCommand>): void => {
  const unclaimed = program.command('unclaimed').description('confirmed money that came for no known order');
  const BY = ['--by <person>', 'who decides; by default the user of this system'] as const;
  const REASON = ['--reason <text>', 'why, for auditors'] as const;
  unclaimed
    .command('list')
    .description('print it as CSV; exit code 1 if there is any')
    .examples('unclaimed list')
    .runs(() => withCommand(list));
  unclaimed
    .command('show')
    .description('print every recorded event of a payment as a line of JSON')
    .argument('<payment>', 'the id of the payment')
    .examples('unclaimed show pay_01J8…')
    .runs((payment: string) => withCommand((command) => show(paymentIdIn(payment), command)));
  unclaimed
    .command('assign')
    .description('give it to an order, which decides on it, or to a merchant; for good')
    .argument('<payment>', 'the id of the payment')
    .option('--order <order>', 'the id of the order')
    .option('--merchant <merchant>', 'the id of the merchant')
    .requiredOption(...REASON)
    .option(...BY)
    .examples('unclaimed assign pay_01J8… --order ord_01J8… --reason "ticket 7"')
    .runs((payment: string, options: Options) =>
      withCommand(async (command) => {
        const paymentId = paymentIdIn(payment);
        const decision = decisionIn(options, command);
        const owner = await ownerIn(options, command);
        return resolve(paymentId, { type: 'AssignPayment', ...owner, ...decision }, command);
      }),
    );
  unclaimed
    .command('return')
    .description('record that it went back to its sender; for good. It moves no money')
    .argument('<payment>', 'the id of the payment')
    .requiredOption(...REASON)
    .option('--tx <hash>', 'the transaction that took it back')
    .option(...BY)
    .examples('unclaimed return pay_01J8… --tx 0x… --reason "ticket 7"')
    .runs((payment: string, options: Options) =>
      withCommand(async (command) => {
        const paymentId = paymentIdIn(payment);
        const refundId = derivedId('refund', `return\n${paymentId}`);
        const txHash = options.tx === undefined ? undefined : statementIn(options, 'tx');
        const decision = decisionIn(options, command);
        return resolve(paymentId, { type: 'ReturnPayment', refundId, txHash, ...decision }, command);
      }),
    );
};

const paymentIdIn = (text: string): string => {
  if (PaymentId.safeParse(text).success) return text;
  throw refused(`${text} is not a payment id: expected ${ID_PREFIXES.payment}_ and a ULID`);
};

const LONGEST_STATEMENT = 500;

const statementIn = (options: Options, name: OptionName): string => {
  const text = options[name]?.trim() ?? '';
  if (text === '') throw refused(`--${name} is empty`);
  if (text.length > LONGEST_STATEMENT) throw refused(`--${name} is longer than ${LONGEST_STATEMENT} characters`);
  return text;
};

const decisionIn = (options: Options, { now }: UnclaimedCommand) => ({
  reason: statementIn(options, 'reason'),
  by: options.by === undefined ? systemUser() : statementIn(options, 'by'),
  at: now(),
});

const systemUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    throw refused('this system has no name for its user: give yours with --by');
  }
};

/** Throws AppError unless the order or the merchant exists. */
const ownerIn = async (
  options: Options,
  { client, db }: UnclaimedCommand,
): Promise<Pick<AssignPayment, 'merchantId' | 'orderId' | 'order'>> => {
  if ((options.order === undefined) === (options.merchant === undefined))
    throw refused('give either --order or --merchant');
  if (options.order !== undefined) {
    const orderId = options.order;
    if (!OrderId.safeParse(orderId).success)
      throw refused(`${orderId} is not an order id: expected ${ID_PREFIXES.order}_ and a ULID`);
    const found = await findOrder(client, orderId);
    if (!found?.reference)
      throw refused(`there is no order ${orderId}, or it was deleted: assign the money to its merchant instead`);
    return { merchantId: found.merchantId, orderId, order: found.reference };
  }
  const merchantId = options.merchant!;
  if (!MerchantId.safeParse(merchantId).success || merchantId === UNCLAIMED_MERCHANT)
    throw refused(`${merchantId} is not the id of a merchant`);
  if (!(await isReadable(db, 'gateway', 'merchant_ids')))
    throw refused('the user in DATABASE_URL cannot read gateway.merchant_ids: use one that can, to check the merchant');
  const { rowCount } = await db.query('select from gateway.merchant_ids where id = $1', [merchantId]);
  if (rowCount !== 1) throw refused(`there is no merchant ${merchantId}`);
  return { merchantId };
};

const resolve = async (
  paymentId: string,
  resolution: Extract<PaymentCommand, { type: 'AssignPayment' | 'ReturnPayment' }>,
  { client, print }: UnclaimedCommand,
): Promise<number> => {
  const handler = commandHandler({
    client,
    decider: paymentDecider,
    schema: PaymentEvent,
    newEvent: NewPaymentEvent,
    streamOf: paymentStreamOf,
  });
  const { state, events } = await handler.handle(paymentId, resolution, newContext('service:admin'));
  const { amountMinor, currency, decimals } = state as ExistingPayment;
  const was = events.length > 0 ? 'was' : 'was already';
  print(`${paymentId}: ${fromMinor(amountMinor, decimals)} ${currency} ${was} ${doneBy(resolution)}`);
  return 0;
};

const doneBy = (resolution: Parameters<typeof resolve>[1]): string => {
  if (resolution.type === 'ReturnPayment') return 'marked as returned to its sender';
  const { merchantId, orderId } = resolution;
  return orderId === undefined
    ? `assigned to ${merchantId}, who can see and refund it within seconds`
    : `assigned to ${orderId} of ${merchantId}. "unclaimed show" prints within seconds what the order decided`;
};

const show = async (paymentId: string, { client, print }: UnclaimedCommand): Promise<number> => {
  const stream = { name: paymentStreamOf(paymentId), startedAt: BEGINNING };
  let after: string | undefined;
  for (let more = true; more;) {
    const page = await readHistoryEntries(client, [stream], { from: BEGINNING, to: END, after });
    for (const { message } of page.messages) print(JSON.stringify(message));
    after = page.messages.at(-1)?.place;
    if (after === undefined) throw new AppError('not_found', `there is no payment ${paymentId}, or it was deleted`);
    ({ more } = page);
  }
  return 0;
};

const BEGINNING = '1970-01-01T00:00:00.000Z';
const END = '9999-12-31T23:59:59.999Z';

const COLUMNS = [
  'payment',
  'network',
  'asset',
  'amount',
  'currency',
  'address',
  'account',
  'order',
  'transaction',
  'provider_id',
  'received_at',
  'age',
] as const;

const list = async ({ db, networks, print }: UnclaimedCommand): Promise<number> => {
  const unclaimed = await unclaimedPayments(db);
  print(COLUMNS.join());
  for (const payment of unclaimed) print(lineOf(payment, networks));
  return unclaimed.length > 0 ? 1 : 0;
};

const lineOf = (
  { resource, account, ageSeconds }: UnclaimedPayment,
  networks: UnclaimedCommand['networks'],
): string => {
  const { id, provider_id, asset, paid_amount, currency, order_id, orphan_reason, tx_hash, created_at } = resource;
  const chain = chainOf(provider_id);
  const network = networks.find(({ chainId }) => chainId === chain)?.name ?? chain;
  const [address, order] = orphan_reason === 'unknown_address' ? [order_id, null] : [null, order_id];
  const money = [id, network, asset, paid_amount, currency, address, account, order, tx_hash, provider_id];
  return [...money, created_at, ageOf(ageSeconds)].map((value) => field(value ?? '')).join();
};

const ageOf = (seconds: number): string => {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
};

/** A provider chose some values: no character of theirs moves the cursor of a terminal, begins a field, or makes a
 *  spreadsheet calculate. */
const field = (value: string): string => {
  const text = value.replaceAll(/\p{Cc}+/gu, ' ').replace(/^(?=[=+\-@])/, "'");
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const refused = (message: string): CommandError => new CommandError(message);
