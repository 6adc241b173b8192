import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Asset, Network } from '@cpg/assets';
import pMap from 'p-map';
import { z } from 'zod';
import {
  type BlockRef,
  ChainNodeError,
  type ChainSource,
  ReorganizedError,
  onlyToWatched,
  type Transfer,
  type Watched,
  WrongChainError,
} from '../chain-source.ts';
import { agreedPositions, type Head, staleAfterMs } from '../nodes/agreement.ts';
import { checkedAnswer, listOf, RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import { type Nodes, type NodesOptions, openNodes } from '../nodes/nodes.ts';
import { addressOf } from './addresses.ts';
import {
  DecodeError,
  eachOutput,
  idOf,
  isCoinbase,
  type RawBlock,
  type RawTransaction,
  readBlock,
  spendsOf,
} from './block.ts';
import { spendsFrom } from './spent-coins.ts';
import { Bytes, fetchTransaction, Hash, UNKNOWN } from './transactions.ts';

export interface BitcoinSourceOptions {
  readonly network: Extract<Network, { kind: 'bitcoin' }>;
  readonly asset: Asset;
  readonly nodes: NodesOptions;
}

/** An output to an address. */
interface Paid {
  readonly bytes: Buffer;
  readonly transaction: RawTransaction;
  readonly vout: number;
  readonly units: number;
  readonly address: string;
}

// Consensus rule COINBASE_MATURITY.
const COINBASE_CONFIRMATIONS = 100;
const TRANSACTIONS_PER_TURN = 250;

/** Reads a Bitcoin chain from raw blocks by `getblock`, which Bitcoin Core, Knots and btcd answer alike, pruned or
 *  not. A block is proven by its hash, so a node cannot invent a payment in a block on which the nodes agree. */
export const bitcoinSource = ({
  network,
  asset,
  nodes: options,
}: BitcoinSourceOptions): ChainSource & { readonly close: () => Promise<void> } => {
  const nodes = openNodes(options, (node) => checkGenesis(node, network));
  const timing = { staleMs: staleAfterMs(network.chainId), now: options.now, nowMs: options.nowMs };
  const positions = agreedPositions(nodes, { head: newestBlocks(), hashAt }, timing);
  const toAddress = addressOf(network.chain);

  /** The payments of each transaction in some bytes to addresses, whoever owns them. */
  const paidBy = (bytes: Buffer, transaction: RawTransaction): Paid[] => {
    const paid: Paid[] = [];
    eachOutput(bytes, transaction, (vout, units, script, scriptBytes) => {
      const address = units === 0 ? null : toAddress(bytes.subarray(script, script + scriptBytes));
      if (address !== null) paid.push({ bytes, transaction, vout, units, address });
    });
    return paid;
  };

  const transferOf = ({ bytes, transaction, vout, units, address }: Paid): Transfer => {
    const txHash = idOf(bytes, transaction);
    const isNew = isCoinbase(bytes, transaction);
    return {
      id: `${txHash}:${vout}`,
      txHash,
      address,
      asset: asset.id,
      units: BigInt(units),
      ...(isNew && { minConfirmations: COINBASE_CONFIRMATIONS }),
      spends: isNew ? [] : spendsOf(bytes, transaction),
    };
  };
  const transfersAmong = async (paid: readonly Paid[], watched: Watched): Promise<Transfer[]> =>
    (await onlyToWatched(paid, watched)).map(transferOf);

  return {
    verify: async () => void (await nodes.each(async () => {}, { evenUnused: true })),
    ...positions,
    block: async (ref, watched, { not } = {}) => {
      const found = await nodes.first((node) => fetchBlock(node, ref), not);
      if (!found) throw new ReorganizedError(ref);
      const block = found.answer;
      const paid: Paid[] = [];
      for (const [index, transaction] of block.transactions.entries()) {
        paid.push(...paidBy(block.bytes, transaction));
        if (index % TRANSACTIONS_PER_TURN === TRANSACTIONS_PER_TURN - 1) await yieldToEventLoop();
      }
      let spenders: Map<string, string> | undefined;
      return {
        ref,
        parent: block.parent,
        time: block.time,
        transfers: await transfersAmong(paid, watched),
        spent: (output) => (spenders ??= spendersIn(block)).get(output),
        nodes: [found.node.number],
        isProven: true,
        isTraced: true,
      };
    },
    mempool: mempoolReader(nodes, paidBy, transfersAmong),
    spendsFrom: spendsFrom(nodes, toAddress),
    close: nodes.close,
  };
};

const checkGenesis = async (node: RpcNode, { name, chainId }: BitcoinSourceOptions['network']): Promise<void> => {
  const genesis = checkedAnswer(node, 'getblockhash', Hash, await node.call('getblockhash', [0]));
  const expected = chainId.slice('bip122:'.length);
  if (!genesis.startsWith(expected))
    throw new WrongChainError(
      `node ${node.number} of ${name} has the genesis block ${genesis}, but ${chainId} begins with ${expected}`,
    );
};

/** Asks for the newest block. The header of each is asked for once. */
const newestBlocks = (): ((node: RpcNode) => Promise<Head>) => {
  const last = new Map<RpcNode, Head>();
  return async (node) => {
    const hash = checkedAnswer(node, 'getbestblockhash', Hash, await node.call('getbestblockhash'));
    const known = last.get(node);
    if (known?.hash === hash) return known;
    const answer = await node.call('getblockheader', [hash, true]);
    const { height, time } = checkedAnswer(node, 'getblockheader', Header, answer);
    const head = { hash, height, time: new Date(time * 1_000) };
    last.set(node, head);
    return head;
  };
};

const hashAt = async (node: RpcNode, height: number): Promise<string | null> => {
  try {
    return checkedAnswer(node, 'getblockhash', Hash, await node.call('getblockhash', [height]));
  } catch (error) {
    if (error instanceof RpcError && ABOVE_TIP.includes(error.code)) return null;
    throw error;
  }
};

/** Null if the node does not know the block. */
const fetchBlock = async (node: RpcNode, { hash }: BlockRef): Promise<RawBlock | null> => {
  try {
    return await readBlock(checkedAnswer(node, 'getblock', Bytes, await node.call('getblock', [hash, 0])), hash);
  } catch (error) {
    if (error instanceof RpcError && error.code === UNKNOWN) return null;
    if (error instanceof DecodeError)
      throw new ChainNodeError('mismatch', `node ${node.number}, getblock: ${error.message}`, { cause: error });
    throw error;
  }
};

const spendersIn = ({ bytes, transactions }: RawBlock): Map<string, string> =>
  new Map(
    transactions.flatMap((transaction) => {
      const id = idOf(bytes, transaction);
      return spendsOf(bytes, transaction).map((output) => [output, id] as const);
    }),
  );

/** A height above the tip: RPC_INVALID_PARAMETER of Bitcoin Core, and -1 of btcd. */
const ABOVE_TIP = [-8, -1];

const Header = z.object({ height: z.int().nonnegative(), time: z.int().nonnegative() });

// The rest of a large mempool follows at the next calls.
const TRANSACTIONS_PER_CALL = 2_000;
const CONCURRENT = 8;

/** Reads each transaction of the mempool once, while it stays there. All addresses of a call are looked up at once. */
const mempoolReader = <Paid>(
  nodes: Nodes,
  paidBy: (bytes: Buffer, transaction: RawTransaction) => readonly Paid[],
  transfersAmong: (paid: readonly Paid[], watched: Watched) => Promise<readonly Transfer[]>,
): ((watched: Watched) => Promise<readonly Transfer[]>) => {
  let seen = new Map<string, readonly Transfer[]>();

  return async (watched) => {
    const { node, answer: ids } = (await nodes.first(listedIds))!;
    seen = new Map(ids.flatMap((id) => (seen.has(id) ? [[id, seen.get(id)!] as const] : [])));
    const unread = ids.filter((id) => !seen.has(id)).slice(0, TRANSACTIONS_PER_CALL);
    const read = async (id: string) => {
      const found = await fetchTransaction(node, id);
      return found ? [{ id, paid: paidBy(found.bytes, found.transaction) }] : [];
    };
    const fetched = (await pMap(unread, read, { concurrency: CONCURRENT })).flat();
    const transfers = await transfersAmong(
      fetched.flatMap(({ paid }) => paid),
      watched,
    );
    for (const { id } of fetched)
      seen.set(
        id,
        transfers.filter(({ txHash }) => txHash === id),
      );
    return [...seen.values()].flat();
  };
};

const listedIds = async (node: RpcNode): Promise<string[]> =>
  checkedAnswer(node, 'getrawmempool', listOf(Hash), await node.call('getrawmempool'));
