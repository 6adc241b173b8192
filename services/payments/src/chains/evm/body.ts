import pMap from 'p-map';
import { requireMatch } from '../nodes/answers.ts';
import { type BlockRef, ChainNodeError, toWatched, type Transfer, type Watched } from '../chain-source.ts';
import type { RpcNode } from '../nodes/json-rpc.ts';
import type { Abilities } from './abilities.ts';
import type { Log, Receipt, Transaction } from './answers.ts';
import { type FetchedBlock, fetchBlock, fetchBlockReceipts, fetchLogs, fetchReceipt, TRANSFER_TOPIC } from './block.ts';
import { bloomOf, mayContain } from './logs-bloom.ts';
import type { Proofs } from './proofs.ts';
import { type AssetByContract, spelled, transfersOf } from './transfers.ts';

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

/** Reads the transactions and logs of a block from a node, and proves them by the hash of the block. Resolves to null if
 *  the node does not know the block. */
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
      transfers: await toWatched(transfersOf(block, receipts, assetByContract), watched),
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

/** A node that shows a block and not what happened in it is several nodes behind one address, of which one is behind. */
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
  new Set((await toWatched(payees, watched)).map(({ transactionHash }) => transactionHash));

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
