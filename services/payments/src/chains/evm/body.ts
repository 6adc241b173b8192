import { checksummed } from '@cpg/assets';
import pMap from 'p-map';
import { type BlockRef, ChainNodeError, onlyToWatched, type Transfer, type Watched } from '../chain-source.ts';
import { requireMatch, type RpcNode } from '../nodes/json-rpc.ts';
import {
  type EvmBlock,
  fetchBlock,
  fetchBlockReceipts,
  type FetchedBlock,
  fetchLogs,
  fetchReceipt,
  type Log,
  type Receipt,
  type Transaction,
  TRANSFER_TOPIC,
} from './block.ts';
import { bloomOf, mayContain } from './encodings.ts';
import type { Abilities, TransactionCalls } from './internal-calls.ts';
import type { Proofs } from './proofs.ts';

/** The transfers of a block that its transactions and logs show, as one node says. */
export interface Body {
  readonly block: FetchedBlock;
  /** To watched addresses. */
  readonly transfers: readonly Transfer[];
  /** The hash of the block proves each of them and that there is no other one. */
  readonly isProven: boolean;
  /** All that the logs of some receipts move; at least those of transactions with a transfer. */
  readonly receipts: readonly Receipt[];
  /** Coins that transactions themselves brought to an address in lower case. */
  readonly brought: (address: string) => bigint;
  /** Addresses in lower case whose balance changes for other reasons than transfers. */
  readonly parties: ReadonlySet<string>;
}

export interface BodyReaderOptions {
  readonly abilities: (node: RpcNode) => Promise<Abilities>;
  readonly proofs: Proofs;
  readonly assetByContract: AssetByContract;
}

/** Reads the transactions and logs of a block from a node, and proves them by the hash of the block. Resolves to null
 *  if the node does not know the block. */
export const bodyReader = ({ abilities, proofs, assetByContract }: BodyReaderOptions) => {
  const tokens = [...assetByContract.keys()].filter((contract) => contract !== undefined);
  const hasNativeAsset = assetByContract.has(undefined);

  const mayPayTokens = ({ answer }: FetchedBlock): boolean =>
    tokens.some((token) => mayContain(answer.logsBloom as string, [token, TRANSFER_TOPIC]));

  return async (node: RpcNode, ref: BlockRef, watched: Watched): Promise<Body | null> => {
    const block = await fetchBlock(node, ref);
    if (!block) return null;
    const isHeaderProven = proofs.header(node, block);
    const areTransactionsProven = isHeaderProven && (await proofs.transactions(node, block));
    const paying = hasNativeAsset ? block.transactions.filter(({ to, value }) => to && value > 0n) : [];

    const bodyOf = async (receipts: readonly Receipt[], areProven: boolean): Promise<Body> => ({
      block,
      receipts,
      transfers: await onlyToWatched(transfersOf(block, receipts, assetByContract), watched),
      isProven: areTransactionsProven && areProven,
      brought: (address) => {
        const failed = new Set(receipts.filter(({ status }) => status === '0x0').map((each) => each.transactionHash));
        const bringing = block.transactions.filter(({ to, hash }) => to === address && !failed.has(hash));
        return bringing.reduce((sum, { value }) => sum + value, 0n);
      },
      parties: partiesOf(block),
    });

    const hasTokens = !areTransactionsProven || mayPayTokens(block);
    const isPaying = async () => (await watchedPayers(paying.map(coinsOf), watched)).size > 0;
    // The header proves that no token moved.
    if (!hasTokens && !(await isPaying())) return bodyOf([], true);
    if ((await abilities(node)).blockReceipts) {
      const receipts = required(await fetchBlockReceipts(node, block), node, block);
      return bodyOf(receipts, isHeaderProven && (await proofs.receipts(node, block, receipts)));
    }
    const logs =
      tokens.length > 0 && hasTokens
        ? required(await fetchLogs(node, block, isHeaderProven ? undefined : tokens), node, block)
        : [];
    if (hasTokens && isHeaderProven && tokens.length > 0)
      requireMatch(bloomOf(logs) === block.answer.logsBloom, node, 'eth_getLogs', 'leaves out logs of the block');
    const wanted = await watchedPayers([...paying.map(coinsOf), ...logs.flatMap(tokensOf(tokens))], watched);
    // Money is proven by all receipts, and that there is none by all logs: they fit the header, though not surely.
    if (wanted.size === 0) return bodyOf([], !hasTokens);
    const asked = isHeaderProven ? block.transactions : block.transactions.filter(({ hash }) => wanted.has(hash));
    const receipts = required(await receiptsOneByOne(node, asked), node, block);
    return bodyOf(receipts, isHeaderProven && (await proofs.receipts(node, block, receipts)));
  };
};

/** A node that shows a block and not what happened in it is several nodes behind one address, of which one is
 *  behind. */
const required = <T>(found: T | null, { number }: RpcNode, { header: { hash } }: FetchedBlock): T => {
  if (found !== null) return found;
  throw new ChainNodeError('refused', `node ${number} shows block ${hash}, but not its receipts`);
};

interface Payee {
  readonly address: string;
  readonly transactionHash: string;
}

const coinsOf = ({ to, hash }: Transaction): Payee => ({ address: spelled(to!), transactionHash: hash });
const tokensOf =
  (tokens: readonly string[]) =>
  ({ address, topics: [topic, , to], transactionHash }: Log): Payee[] =>
    to !== undefined && topic === TRANSFER_TOPIC && tokens.includes(address)
      ? [{ address: spelled(`0x${to.slice(-40)}`), transactionHash }]
      : [];

/** Hashes of the transactions that may pay a watched address. */
const watchedPayers = async (payees: readonly Payee[], watched: Watched): Promise<ReadonlySet<string>> =>
  new Set((await onlyToWatched(payees, watched)).map(({ transactionHash }) => transactionHash));

const RECEIPTS_AT_ONCE = 8;

/** Null if the node does not know one of them. */
const receiptsOneByOne = async (node: RpcNode, transactions: readonly Transaction[]): Promise<Receipt[] | null> => {
  const receipts = await pMap(transactions, (each) => fetchReceipt(node, each), { concurrency: RECEIPTS_AT_ONCE });
  return receipts.includes(null) ? null : (receipts as Receipt[]);
};

/** Senders pay fees, withdrawals of validators and fees bring coins. */
const partiesOf = ({ transactions, answer }: FetchedBlock): ReadonlySet<string> => {
  const withdrawals = Array.isArray(answer.withdrawals) ? (answer.withdrawals as readonly { address?: unknown }[]) : [];
  const others = [answer.miner, ...withdrawals.map((withdrawal) => withdrawal?.address)];
  return new Set([...transactions.map(({ from }) => from), ...others.map((address) => String(address).toLowerCase())]);
};

/** CAIP-19 by contract in lower case; the native coin has the key undefined. */
type AssetByContract = ReadonlyMap<string | undefined, string>;

/** How deposit instructions spell an address. */
const spelled = (address: string): string => checksummed(address.slice(2));

/** The transfers of some assets to anybody, in the order of the block and without calls inside transactions. Failed
 *  transactions pay nobody. */
const transfersOf = ({ transactions }: EvmBlock, receipts: readonly Receipt[], assets: AssetByContract): Transfer[] => {
  const receiptOf = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
  return transactions.flatMap((transaction) => {
    const receipt = receiptOf.get(transaction.hash);
    if (receipt?.status !== '0x1') return [];
    return [...nativeTransfer(transaction, assets), ...tokenTransfers(receipt, assets)];
  });
};

const nativeTransfer = ({ hash, to, from, value }: Transaction, assets: AssetByContract): Transfer[] => {
  const asset = assets.get(undefined);
  if (asset === undefined || value === 0n || !to) return [];
  return [{ id: `${hash}:native`, txHash: hash, address: spelled(to), sender: spelled(from), asset, units: value }];
};

/** The transfers of the native coin by calls inside transactions, in the order of the block. */
export const callTransfersOf = ({ transactions }: EvmBlock, calls: TransactionCalls, asset: string): Transfer[] =>
  transactions.flatMap(({ hash }) =>
    (calls.get(hash) ?? []).map(({ to, value: units }, index) => {
      const id = `${hash}:native${index + 1}`;
      return { id, txHash: hash, address: spelled(to), asset, units };
    }),
  );

/** The position of a log inside its receipt stays when the transaction is mined again in another block. */
const tokenTransfers = ({ transactionHash: hash, logs }: Receipt, assets: AssetByContract): Transfer[] =>
  logs.flatMap((log, position) => {
    const asset = assets.get(log.address);
    const payment = asset !== undefined ? transferOf(log) : null;
    if (!payment) return [];
    const { to, from, units } = payment;
    const parties = { address: spelled(to), sender: spelled(from) };
    return [{ id: `${hash}:${position}`, txHash: hash, ...parties, asset: asset!, units }];
  });

const UNITS = /^0x[0-9a-f]{64}$/;

/** Null for another event, and for a transfer of nothing. */
const transferOf = ({ topics: [topic, from, to], data }: Log): { to: string; from: string; units: bigint } | null => {
  if (topic !== TRANSFER_TOPIC || to === undefined || !UNITS.test(data)) return null;
  const units = BigInt(data);
  return units > 0n ? { to: addressIn(to), from: addressIn(from!), units } : null;
};

const addressIn = (topic: string): string => `0x${topic.slice(-40)}`;
