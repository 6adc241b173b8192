import { type Asset, checksummed, type Network } from '@cpg/assets';
import { agreedPositions, type Positions } from '../agreement.ts';
import {
  type Block,
  type BlockRef,
  ChainNodeError,
  type ChainSource,
  ReorganizedError,
  type Transfer,
  type Watched,
} from '../chain-source.ts';
import { RpcError, type RpcNode } from '../json-rpc.ts';
import { type NodesOptions, openNodes } from '../nodes.ts';
import { isInternal } from '../same-money.ts';
import { watchedKeys } from '../watched-keys.ts';
import { abilitiesOf } from './abilities.ts';
import { checkedAnswer, readHeader, type Receipt, requireMatch, type Transaction } from './answers.ts';
import { type EvmBlock, fetchBlock, fetchBlockReceipts, fetchReceipt, fetchTransferLogs } from './block.ts';
import { checkDeployment } from './deployment.ts';
import { smallQuantityIn } from './fields.ts';
import { type SurplusOptions, surplusesIn } from './surpluses.ts';
import { isLacking } from './internal-calls.ts';
import { transfersOf } from './transfers.ts';

export interface EvmSourceOptions {
  readonly network: Extract<Network, { kind: 'evm' }>;
  /** All assets of the network. */
  readonly assets: readonly Asset[];
  readonly nodes: NodesOptions;
}

/** The first 28 bits of an address in any spelling. */
const keyOf = (address: string): number => Number.parseInt(address.slice(2, 9), 16);

/** Reads an EVM chain by JSON-RPC: always by the hash of a block, so a reorganization between two calls is an error and
 *  no mixture. What pays somebody is read from a second node too, where several are configured. */
export const evmSource = ({
  network,
  assets,
  nodes: options,
}: EvmSourceOptions): ChainSource & { readonly close: () => Promise<void> } => {
  const nodes = openNodes(options, (node) => checkDeployment(node, network, assets));
  const abilities = abilitiesOf(options.nowMs ?? (() => performance.now()));
  const tokens = assets.flatMap(({ contract }) => (contract ? [contract.toLowerCase()] : []));
  const keysOf = watchedKeys(keyOf);
  const assetByContract = new Map(assets.map((asset) => [asset.contract?.toLowerCase(), asset.id]));
  const nativeAsset = assetByContract.get(undefined);
  const lookup = (watched: Watched) => {
    const keys = keysOf(watched);
    const watchedAddress = (address: string) => {
      if (!keys.has(keyOf(address))) return null;
      const spelled = checksummed(address.slice(2));
      return watched.has(spelled) ? spelled : null;
    };
    return { watchedAddress, assetByContract };
  };

  /** Null if the node does not know the block. */
  const read = async (node: RpcNode, ref: BlockRef, watched: Watched): Promise<Reading | null> => {
    const block = await fetchBlock(node, ref);
    if (!block) return null;
    const { blockReceipts, internalCalls } = await abilities(node);
    const wanted = lookup(watched);
    const needsCalls = nativeAsset !== undefined && watched.size > 0;
    const [receipts, calls] = await Promise.all([
      blockReceipts ? fetchBlockReceipts(node, block) : receiptsOf(node, block, tokens, wanted.watchedAddress),
      needsCalls && internalCalls ? internalCalls(node, block).catch(nullIfLacking) : null,
    ]);
    if (!receipts) return null;
    const found = transfersOf(block, receipts, calls ?? new Map<string, never[]>(), wanted);
    const surpluses =
      needsCalls && !calls ? await withoutTraces(node, block, { receipts, found, watched, asset: nativeAsset }) : [];
    return {
      ref,
      parent: block.header.parentHash,
      time: new Date(block.header.timestamp * 1_000),
      transfers: [...found, ...surpluses],
      internal: needsCalls && !calls ? 'balances' : 'traces',
    };
  };

  return {
    verify: async () => void (await nodes.all(async () => {})),
    ...agreedPositions(nodes, POSITIONS),
    block: async (ref, watched) => {
      const found = await nodes.first((node) => read(node, ref, watched));
      if (!found) throw new ReorganizedError(ref);
      const { node, answer } = found;
      if (answer.transfers.length === 0 && answer.internal === 'traces') return answer;
      const others = await nodes.all((another) => read(another, ref, watched), node);
      if (!others.every((other) => other !== null && sameTransfers(answer, other)))
        throw nodes.disagreement(`the transfers of block ${ref.hash}`);
      return bestOf([answer, ...(others as Reading[])]);
    },
    close: nodes.close,
  };
};

interface Reading extends Block {
  /** How coins paid by contracts were found. */
  readonly internal: 'traces' | 'balances';
}

const bestOf = (readings: readonly Reading[]): Reading =>
  readings.find(({ internal }) => internal === 'traces') ?? readings[0]!;

/** Many nodes have no traces of old blocks. */
const nullIfLacking = (error: unknown): null => {
  if (isLacking(error)) return null;
  throw error;
};

/** Throws ChainNodeError if the node no longer has the state of the block. */
const withoutTraces = async (node: RpcNode, block: EvmBlock, options: SurplusOptions): Promise<Transfer[]> => {
  try {
    return await surplusesIn(node, block, options);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { number } = block.header;
    const why = `has neither traces nor the state of block ${number}, so it cannot show coins that contracts paid there`;
    throw new ChainNodeError('no_state', `node ${node.number} ${why} (${error.message})`, { cause: error });
  }
};

const POSITIONS: Positions = {
  height: async (node) => checkedAnswer(node, 'eth_blockNumber', smallQuantityIn, await node.call('eth_blockNumber')),
  hashAt: async (node, height) => {
    const method = 'eth_getBlockByNumber';
    const answer = await node.call(method, [`0x${height.toString(16)}`, false]);
    if (answer === null) return null;
    const { hash, number } = checkedAnswer(node, method, readHeader, answer);
    requireMatch(number === height, node, method, 'is the block of another height');
    return hash;
  },
};

/** Without `eth_getBlockReceipts`: receipts of transactions that may involve a watched address. */
const receiptsOf = async (
  node: RpcNode,
  block: EvmBlock,
  tokens: readonly string[],
  watchedAddress: (address: string) => string | null,
): Promise<Receipt[] | null> => {
  const logs = tokens.length > 0 ? await fetchTransferLogs(node, block, tokens) : [];
  if (!logs) return null;
  const paidByLog = new Set(
    logs
      .filter(({ topics: [, , to] }) => to !== undefined && watchedAddress(`0x${to.slice(-40)}`))
      .map(({ transactionHash }) => transactionHash),
  );
  const isCandidate = ({ hash, from, to, value }: Transaction) =>
    paidByLog.has(hash) || watchedAddress(from) !== null || (to && value > 0n && watchedAddress(to) !== null);
  const receipts = await Promise.all(block.transactions.filter(isCandidate).map((each) => fetchReceipt(node, each)));
  return receipts.includes(null) ? null : (receipts as Receipt[]);
};

/** Without regard to internal transfers where one of the nodes finds them in another way. */
const sameTransfers = (one: Reading, other: Reading): boolean => {
  const textOf = ({ transfers }: Reading) =>
    transfers
      .filter((transfer) => one.internal === other.internal || !isInternal(transfer))
      .map(({ id, address, asset, units }) => `${id} ${address} ${asset} ${units}`)
      .join('\n');
  return textOf(one) === textOf(other);
};
