import { setTimeout as sleep } from 'node:timers/promises';
import type { CryptoDepositInstruction, Order, Payment } from '@cpg/contracts';
import { evmAssetOf, mineBlocks, pay, type Receipt, reorganize, type RpcCall, TEST_TOKENS } from '@cpg/local-chain';
import type { z } from 'zod';
import { type Api, refusalOf } from '../harness/api.ts';
import { LOCAL_NETWORK } from '../harness/chains.ts';
import type { PayOptions } from './options.ts';
import { PayError } from './pay-error.ts';

type Deposit = z.infer<typeof CryptoDepositInstruction>;

const WATCHED_MS = 60_000;
const LISTED_WITHIN_MS = 5_000;
/** Blocks without a lost transaction after which its payment fails, and some more. */
const GRACE_BLOCKS = 8;
const ETH_DECIMALS = 18;

interface PayContext {
  readonly api: Api;
  readonly call: RpcCall;
  readonly print: (line: string) => void;
  /** Runs once the payment is decided, before its block is taken back. */
  readonly beforeReorg?: () => Promise<unknown>;
}

/** Pays an order on chain, prints each change of its payments, and resolves with the order afterwards. */
export const payOrder = async (
  { api, call, print, beforeReorg }: PayContext,
  { order: named, amount, token, times, reorg }: PayOptions,
): Promise<Order> => {
  const order = await find(api, named);
  const { id: orderId } = order;
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
  await beforeReorg?.();
  return reorg === 'again' ? remine({ call, receipts, print, watch }) : lose({ call, receipts, print, watch });
};

const read = async (api: Api, orderId: string): Promise<Order> => {
  const answer = await api.send('GET', `/v1/orders/${encodeURIComponent(orderId)}`);
  if (answer.status === 200) return answer.body as Order;
  throw new PayError(refusalOf(answer).message);
};

/** The newest order that a user means by its id, its reference, or the link of its payment page. Lists show an order
 *  some time after it was created. */
const find = async (api: Api, named: string): Promise<Order> => {
  const text = /\/pay\/(\w+)/.exec(named)?.[1] ?? named;
  for (const end = Date.now() + LISTED_WITHIN_MS; Date.now() < end; await sleep(100)) {
    const answer = await api.send('GET', `/v1/orders?limit=1&search=${encodeURIComponent(text)}`);
    if (answer.status !== 200) throw new PayError(refusalOf(answer).message);
    const [found] = (answer.body as { items: Order[] }).items;
    if (found) return read(api, found.id);
  }
  throw new PayError(
    `there is no order ${named} of the demo merchant: name the id of an order, your reference of it, or the link of its payment page`,
  );
};

const depositOf = ({ id, currency, deposit_instructions }: Order): Deposit => {
  const deposits = deposit_instructions.filter(({ rail }) => rail === 'crypto_deposit') as Deposit[];
  const local = deposits.find(({ network }) => network === LOCAL_NETWORK);
  if (local) return local;
  const networks = deposits.map(({ network }) => network).join(', ');
  throw new PayError(
    `${id} cannot be paid in ${currency} on ${LOCAL_NETWORK}: ${networks ? `its addresses are on ${networks}` : 'the rail crypto_deposit is not enabled'}. POST /debug/register-payment of the API pays in place of the payer`,
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
      const lines = [...payments.map(paymentLine), orderLine(order)];
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

const orderLine = ({ status, remaining_amount, due_back_amount, currency }: Order) =>
  [
    `order ${status}, ${remaining_amount} remain`,
    due_back_amount !== undefined && `${due_back_amount} ${currency} to give back`,
  ]
    .filter(Boolean)
    .join(', ');

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

/** The number of blocks from that of the first payment to the newest. Others may have mined blocks since. */
const depthOf = async (call: RpcCall, [first]: readonly Receipt[]): Promise<number> =>
  Number(await call<string>('eth_blockNumber')) - Number(first!.blockNumber) + 1;

/** Moves the payments to the next block. */
const remine = async ({ call, receipts, print, watch }: Reorganization): Promise<Order> => {
  await mineBlocks(call);
  const depth = await depthOf(call, receipts);
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
  const depth = await depthOf(call, receipts);
  await reorganize(call, depth);
  await mineBlocks(call, GRACE_BLOCKS);
  print(`reorganized ${depth} blocks and mined ${GRACE_BLOCKS}: no block contains the payment`);
  return watch((payments) => payments.every(({ status }) => status === 'failed'));
};
