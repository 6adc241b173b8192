import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CryptoDepositInstruction, Order, Payment } from '@cpg/contracts';
import { evmAssetOf, mineBlocks, pay, type Receipt, reorganize, type RpcCall, TEST_TOKENS } from '@cpg/local-chain';
import type { z } from 'zod';
import { type Api, refusalOf } from '../harness/api.ts';
import { LOCAL_NETWORK } from '../harness/chains.ts';

interface PayOptions {
  readonly orderId: string;
  /** In the token. Default: what remains to be paid. */
  readonly amount: string | undefined;
  /** Currency of the asset to send. Default: that of the order. */
  readonly token: string | undefined;
  readonly times: number;
  /** Reorganizes the chain afterwards: the payment is mined again in another block, or it is gone. */
  readonly reorg: 'again' | 'lost' | null;
}

export const PAY_HELP = `npm run pay -- ORDER [options]      pay an order of the running stack on the chain of this machine

Options
  --amount A     amount to pay (default: what remains)
  --token T      what to send: ETH, USDT, USDC, USDG or CAZ (default: the currency of the order); another
                 one arrives at the address of the order too, and becomes an orphan
  --times N      pay so often, in transactions of their own (default 1)
  --reorg        reorganize the chain afterwards: another block contains the payment
  --lost         with --reorg: no block contains the payment any more, so the order is reversed
  --help         show this page
`;

/** The user has to change the command, or something that the message names. */
export class PayError extends Error {
  override readonly name = 'PayError';
}

const OPTIONS = {
  amount: { type: 'string' },
  token: { type: 'string' },
  times: { type: 'string' },
  reorg: { type: 'boolean' },
  lost: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Null asks for help. Throws PayError for an invalid command line. */
export const parsePayOptions = (args: readonly string[]): PayOptions | null => {
  const { values, positionals } = parsed(args);
  if (values.help) return null;
  const [orderId, ...others] = positionals;
  if (orderId === undefined || others.length > 0)
    throw new PayError('name one order: npm run pay -- ord_…   (--help shows the options)');
  const times = Number(values.times ?? 1);
  if (!Number.isInteger(times) || times < 1 || times > 100)
    throw new PayError('--times must be a number from 1 to 100');
  if (values.amount !== undefined && !/^\d{1,26}(\.\d{1,18})?$/.test(values.amount))
    throw new PayError(`--amount must be a decimal number such as 5.45, but is "${values.amount}"`);
  if (values.lost && !values.reorg) throw new PayError('--lost needs --reorg');
  const reorg = values.reorg ? (values.lost ? 'lost' : 'again') : null;
  return { orderId, amount: values.amount, token: values.token?.toUpperCase(), times, reorg };
};

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    throw new PayError((cause as Error).message.split(/\. (?=To specify)/)[0], { cause });
  }
};

type Deposit = z.infer<typeof CryptoDepositInstruction>;

const WATCHED_MS = 60_000;
/** Blocks without a lost transaction after which its payment fails, and some more. */
const GRACE_BLOCKS = 8;
const ETH_DECIMALS = 18;

/** Pays an order on chain, prints each change of its payments, and resolves with the order afterwards. */
export const payOrder = async (
  { api, call, print }: { api: Api; call: RpcCall; print: (line: string) => void },
  { orderId, amount, token, times, reorg }: PayOptions,
): Promise<Order> => {
  const order = await read(api, orderId);
  const deposit = depositOf(order);
  if (amount === undefined) requireOpen(order);
  const { asset, currency, decimals } = sentAsset(deposit, token);
  const units = unitsOf(amount ?? deposit.amount, decimals);
  const receipts: Receipt[] = [];
  for (let count = 0; count < times; count += 1) {
    const receipt = await pay(call, asset, deposit.address, units);
    receipts.push(receipt);
    print(`paid ${amount ?? deposit.amount} ${currency} to ${deposit.address}`);
    print(`transaction ${receipt.transactionHash} in block ${Number(receipt.blockNumber)}`);
  }
  const hashes = receipts.map(({ transactionHash }) => transactionHash);
  const watch = watcher({ api, orderId, hashes, print });
  const paid = await watch((payments) => payments.length === times && payments.every(isDecided));
  if (reorg === null) return paid;
  return reorg === 'again' ? remine({ call, receipts, print, watch }) : lose({ call, receipts, print, watch });
};

const read = async (api: Api, orderId: string): Promise<Order> => {
  const answer = await api.send('GET', `/v1/orders/${encodeURIComponent(orderId)}`);
  if (answer.status === 200) return answer.body as Order;
  throw new PayError(
    answer.status === 404 ? `there is no order ${orderId} of the demo merchant` : refusalOf(answer).message,
  );
};

const depositOf = ({ id, currency, deposit_instructions }: Order): Deposit => {
  const deposits = deposit_instructions.filter(({ rail }) => rail === 'crypto_deposit') as Deposit[];
  const local = deposits.find(({ network }) => network === LOCAL_NETWORK);
  if (local) return local;
  const networks = deposits.map(({ network }) => network).join(', ');
  throw new PayError(
    `${id} cannot be paid in ${currency} on ${LOCAL_NETWORK}: ${networks ? `its addresses are on ${networks}` : 'the rail crypto_deposit is not enabled'}`,
  );
};

const requireOpen = ({ id, status }: Order): void => {
  if (['awaiting_payment', 'partially_paid'].includes(status)) return;
  throw new PayError(`${id} is ${status} and takes no payment: create another order, or pay anyway with --amount`);
};

const sentAsset = ({ asset, currency, decimals }: Deposit, token: string | undefined) => {
  if (token === undefined || token === currency) return { asset: evmAssetOf(asset), currency, decimals };
  if (token === 'ETH') return { asset: 'native' as const, currency: token, decimals: ETH_DECIMALS };
  const found = TEST_TOKENS.find((each) => each.currency === token);
  if (!found)
    throw new PayError(`--token must be ETH or one of ${TEST_TOKENS.map((each) => each.currency).join(', ')}`);
  return { asset: { contract: found.contract }, currency: token, decimals: found.decimals };
};

/** Units on the chain. Throws PayError for zero and for more decimals than the asset has. */
const unitsOf = (amount: string, decimals: number): bigint => {
  const [whole, fraction = ''] = amount.split('.') as [string, string?];
  const digits = fraction.replace(/(?<!0)0+$/, '');
  if (digits.length > decimals) throw new PayError(`the amount ${amount} has more than ${decimals} decimals`);
  const units = BigInt(whole + digits.padEnd(decimals, '0'));
  if (units === 0n) throw new PayError('the amount must be more than zero');
  return units;
};

/** Further changes come only after a reorganization. */
const isDecided = ({ status }: Payment): boolean => status !== 'received';

interface Watched {
  readonly api: Api;
  readonly orderId: string;
  readonly hashes: readonly string[];
  readonly print: (line: string) => void;
}

type Watch = (isEnd: (payments: Payment[]) => boolean) => Promise<Order>;

/** Prints each change of the payments with these transactions until `isEnd` accepts them. */
const watcher = ({ api, orderId, hashes, print }: Watched): Watch => {
  let last = '';
  return async (isEnd) => {
    for (const end = Date.now() + WATCHED_MS; ; await sleep(100)) {
      const order = await api.order(orderId);
      const payments = order.payments.filter(({ tx_hash }) => hashes.includes(tx_hash ?? ''));
      const lines = [...payments.map(paymentLine), `order ${order.status}, ${order.remaining_amount} remain`];
      if (lines.join('\n') !== last) lines.forEach((line) => print(line));
      last = lines.join('\n');
      if (isEnd(payments)) return order;
      if (Date.now() > end) {
        if (payments.length > 0) return order;
        throw new PayError(`no payment was seen within ${WATCHED_MS / 1000} s: see the log lines of payments`);
      }
    }
  };
};

const paymentLine = ({
  id,
  status,
  paid_amount,
  currency,
  confirmations,
  orphan_reason,
  failure_reason,
  block,
}: Payment) =>
  [
    `payment ${id}: ${status}, ${paid_amount} ${currency}`,
    orphan_reason ?? failure_reason,
    confirmations !== undefined && `${confirmations} confirmations`,
    block && `block ${block.height}`,
  ]
    .filter(Boolean)
    .join(', ');

interface Reorganization {
  readonly call: RpcCall;
  readonly receipts: readonly Receipt[];
  readonly print: (line: string) => void;
  readonly watch: Watch;
}

/** Moves the payments to the next block. */
const remine = async ({ call, receipts, print, watch }: Reorganization): Promise<Order> => {
  await mineBlocks(call);
  const depth = receipts.length + 1;
  await reorganize(
    call,
    depth,
    receipts.map(({ transactionHash: hash }) => ({ hash, block: depth - 1 })),
  );
  const moved = await call<Receipt>('eth_getTransactionReceipt', receipts[0]!.transactionHash);
  print(`reorganized ${depth} blocks: the payment is in block ${Number(moved.blockNumber)} now`);
  return watch((payments) => payments.every(({ block }) => block?.height === Number(moved.blockNumber)));
};

const lose = async ({ call, receipts, print, watch }: Reorganization): Promise<Order> => {
  await reorganize(call, receipts.length);
  await mineBlocks(call, GRACE_BLOCKS);
  print(`reorganized ${receipts.length} blocks and mined ${GRACE_BLOCKS}: no block contains the payment`);
  return watch((payments) => payments.every(({ status }) => status === 'failed'));
};
