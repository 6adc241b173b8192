import type { Asset, Network } from '@cpg/assets';
import { agreedPositions, type Positions } from '../agreement.ts';
import {
  type Block,
  type BlockRef,
  type ChainSource,
  isInsideCall,
  ReorganizedError,
  toWatched,
  type Watched,
} from '../chain-source.ts';
import type { RpcNode } from '../json-rpc.ts';
import { type NodesOptions, openNodes } from '../nodes.ts';
import { abilitiesOf } from './abilities.ts';
import { checkedAnswer, readHeader, type Receipt, requireMatch } from './answers.ts';
import { type EvmBlock, fetchBlock, fetchBlockReceipts, fetchReceipt, fetchTransferLogs } from './block.ts';
import { checkDeployment } from './deployment.ts';
import { smallQuantityIn } from './fields.ts';
import { isLacking } from './internal-calls.ts';
import { spelled, transfersOf } from './transfers.ts';

export interface EvmSourceOptions {
  readonly network: Extract<Network, { kind: 'evm' }>;
  /** All assets of the network. */
  readonly assets: readonly Asset[];
  readonly nodes: NodesOptions;
}

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
  const assetByContract = new Map(assets.map((asset) => [asset.contract?.toLowerCase(), asset.id]));
  const hasNativeAsset = assetByContract.has(undefined);

  /** Null if the node does not know the block. */
  const read = async (node: RpcNode, ref: BlockRef, watched: Watched): Promise<Block | null> => {
    const block = await fetchBlock(node, ref);
    if (!block) return null;
    const { blockReceipts, internalCalls } = await abilities(node);
    const [receipts, calls] = await Promise.all([
      blockReceipts ? fetchBlockReceipts(node, block) : receiptsOf(node, block, tokens, watched),
      hasNativeAsset && internalCalls ? internalCalls(node, block).catch(nullIfLacking) : null,
    ]);
    if (!receipts) return null;
    const paid = transfersOf(block, receipts, calls ?? new Map<string, never[]>(), assetByContract);
    return {
      ref,
      parent: block.header.parentHash,
      time: new Date(block.header.timestamp * 1_000),
      transfers: await toWatched(paid, watched),
      nodes: [node.number],
      isProven: false,
      isTraced: calls !== null || !hasNativeAsset,
    };
  };

  return {
    verify: async () => void (await nodes.all(async () => {})),
    ...agreedPositions(nodes, POSITIONS),
    block: async (ref, watched, { not } = {}) => {
      const found = await nodes.first((node) => read(node, ref, watched), not);
      if (!found) throw new ReorganizedError(ref);
      const { node, answer } = found;
      if (answer.transfers.length === 0 && answer.isTraced) return answer;
      const others = await nodes.all((another) => read(another, ref, watched), node);
      if (!others.every((other) => other !== null && sameTransfers(answer, other)))
        throw nodes.disagreement(`the transfers of block ${ref.hash}`);
      const readings = [answer, ...(others as Block[])];
      return { ...bestOf(readings), nodes: readings.flatMap((reading) => reading.nodes) };
    },
    close: nodes.close,
  };
};

const bestOf = (readings: readonly Block[]): Block => readings.find(({ isTraced }) => isTraced) ?? readings[0]!;

/** Many nodes have no traces of old blocks. */
const nullIfLacking = (error: unknown): null => {
  if (isLacking(error)) return null;
  throw error;
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

/** Without `eth_getBlockReceipts`: receipts of transactions that may pay a watched address. */
const receiptsOf = async (
  node: RpcNode,
  block: EvmBlock,
  tokens: readonly string[],
  watched: Watched,
): Promise<Receipt[] | null> => {
  const logs = tokens.length > 0 ? await fetchTransferLogs(node, block, tokens) : [];
  if (!logs) return null;
  const payees = [
    ...logs.flatMap(({ topics: [, , to], transactionHash }) =>
      to ? [{ to: `0x${to.slice(-40)}`, transactionHash }] : [],
    ),
    ...block.transactions.flatMap(({ to, value, hash }) => (to && value > 0n ? [{ to, transactionHash: hash }] : [])),
  ];
  const paid = await toWatched(
    payees.map(({ to, transactionHash }) => ({ address: spelled(to), transactionHash })),
    watched,
  );
  const wanted = new Set(paid.map(({ transactionHash }) => transactionHash));
  const candidates = block.transactions.filter(({ hash }) => wanted.has(hash));
  const receipts = await Promise.all(candidates.map((each) => fetchReceipt(node, each)));
  return receipts.includes(null) ? null : (receipts as Receipt[]);
};

/** Without regard to calls inside transactions where one of the nodes does not show them. */
const sameTransfers = (one: Block, other: Block): boolean => {
  const textOf = ({ transfers }: Block) =>
    transfers
      .filter((transfer) => (one.isTraced && other.isTraced) || !isInsideCall(transfer))
      .map(({ id, address, asset, units }) => `${id} ${address} ${asset} ${units}`)
      .join('\n');
  return textOf(one) === textOf(other);
};
