import { type Asset, type BitcoinChain, type Network } from '@cpg/assets';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { agreedPositions } from '../agreement.ts';
import {
  type BlockRef,
  ChainNodeError,
  type ChainSource,
  ReorganizedError,
  type Transfer,
  type Watched,
  WrongChainError,
} from '../chain-source.ts';
import { RpcError, type RpcNode } from '../json-rpc.ts';
import { type NodesOptions, openNodes } from '../nodes.ts';
import { type RawBlock, readBlock } from './block.ts';
import { mempoolReader } from './mempool.ts';
import { type MerkleRoots, merkleRoots } from './merkle-root.ts';
import { ABOVE_TIP, UNKNOWN } from './rpc-codes.ts';
import { addressOf, scriptFilter } from './segwit-address.ts';
import { DecodeError, eachOutput, idOf, isCoinbase, type RawTransaction, spendsOf } from './transactions.ts';

export interface BitcoinSourceOptions {
  readonly network: Extract<Network, { kind: 'bitcoin' }>;
  readonly asset: Asset;
  readonly nodes: NodesOptions;
}

const PREFIXES: Record<BitcoinChain, string> = { main: 'bc', test: 'tb', regtest: 'bcrt' };
// Consensus rule COINBASE_MATURITY.
const COINBASE_CONFIRMATIONS = 100;
const TRANSACTIONS_PER_TURN = 1_000;

/** Reads a Bitcoin chain from raw blocks by `getblock`, which Bitcoin Core, Knots and btcd answer alike, pruned or
 *  not. A block is proven by its hash, so a node cannot invent a payment in a block on which the nodes agree. */
export const bitcoinSource = ({
  network,
  asset,
  nodes: options,
}: BitcoinSourceOptions): ChainSource & { readonly close: () => Promise<void> } => {
  const roots = merkleRoots();
  const nodes = openNodes(options, (node) => checkGenesis(node, network));
  const positions = agreedPositions(nodes, { height: tipHeight, hashAt });
  const toAddress = addressOf(PREFIXES[network.chain]);
  const filterOf = scriptFilter(PREFIXES[network.chain]);

  /** Finds the transfers in transactions of some bytes. */
  const transfersIn = (bytes: Buffer, watched: Watched) => {
    const mayPay = filterOf(watched);
    return (transaction: RawTransaction): Transfer[] => {
      const transfers: Transfer[] = [];
      eachOutput(bytes, transaction, (vout, units, script, scriptBytes) => {
        if (units === 0 || !mayPay(bytes, script, scriptBytes)) return;
        const address = toAddress(bytes.subarray(script, script + scriptBytes));
        if (address !== null && watched.has(address))
          transfers.push(transferOf(bytes, transaction, { vout, units, address }));
      });
      return transfers;
    };
  };

  const transferOf = (
    bytes: Buffer,
    transaction: RawTransaction,
    { vout, units, address }: { vout: number; units: number; address: string },
  ): Transfer => {
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

  return {
    verify: async () => void (await nodes.all(async () => {})),
    ...positions,
    block: async (ref, watched) => {
      const found = await nodes.first((node) => fetchBlock(node, ref, roots));
      if (!found) throw new ReorganizedError(ref);
      const block = found.answer;
      const transfers: Transfer[] = [];
      const find = transfersIn(block.bytes, watched);
      for (const [index, transaction] of block.transactions.entries()) {
        transfers.push(...find(transaction));
        if (index % TRANSACTIONS_PER_TURN === TRANSACTIONS_PER_TURN - 1) await yieldToEventLoop();
      }
      let spenders: Map<string, string> | undefined;
      return {
        ref,
        parent: block.parent,
        time: block.time,
        transfers,
        spent: (output) => (spenders ??= spendersIn(block)).get(output),
      };
    },
    mempool: mempoolReader(nodes, transfersIn),
    close: async () => void (await Promise.all([nodes.close(), roots.close()])),
  };
};

const checkGenesis = async (node: RpcNode, { name, chainId }: BitcoinSourceOptions['network']): Promise<void> => {
  const genesis = requireHash(node, 'getblockhash', await node.call('getblockhash', [0]));
  const expected = chainId.slice('bip122:'.length);
  if (!genesis.startsWith(expected))
    throw new WrongChainError(
      `node ${node.number} of ${name} has the genesis block ${genesis}, but ${chainId} begins with ${expected}`,
    );
};

const tipHeight = async (node: RpcNode): Promise<number> => {
  const height = await node.call('getblockcount');
  if (typeof height !== 'number' || !Number.isSafeInteger(height) || height < 0)
    throw new ChainNodeError('malformed', `node ${node.number}, getblockcount: is no height`);
  return height;
};

const hashAt = async (node: RpcNode, height: number): Promise<string | null> => {
  try {
    return requireHash(node, 'getblockhash', await node.call('getblockhash', [height]));
  } catch (error) {
    if (error instanceof RpcError && ABOVE_TIP.includes(error.code)) return null;
    throw error;
  }
};

/** Null if the node does not know the block. */
const fetchBlock = async (node: RpcNode, { hash }: BlockRef, roots: MerkleRoots): Promise<RawBlock | null> => {
  try {
    return await readBlock(await node.bytes('getblock', [hash, 0]), hash, roots);
  } catch (error) {
    if (error instanceof RpcError && error.code === UNKNOWN) return null;
    if (error instanceof DecodeError)
      throw new ChainNodeError('mismatch', `node ${node.number}, getblock: ${error.message}`, { cause: error });
    throw error;
  }
};

const requireHash = (node: RpcNode, method: string, value: unknown): string => {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value))
    throw new ChainNodeError('malformed', `node ${node.number}, ${method}: is no hash`);
  return value;
};

const spendersIn = ({ bytes, transactions }: RawBlock): Map<string, string> =>
  new Map(
    transactions.flatMap((transaction) => {
      const id = idOf(bytes, transaction);
      return spendsOf(bytes, transaction).map((output) => [output, id] as const);
    }),
  );
