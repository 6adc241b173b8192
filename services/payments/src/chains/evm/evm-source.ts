import type { Asset, Network } from '@cpg/assets';
import {
  type Block,
  type BlockRef,
  ChainNodeError,
  type ChainSource,
  ReorganizedError,
  onlyToWatched,
  type Transfer,
  type Watched,
  WrongChainError,
} from '../chain-source.ts';
import { agreedPositions, type Positions, staleAfterMs } from '../nodes/agreement.ts';
import { checkedAnswer, requireMatch, RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import { type NodeAnswer, type Nodes, type NodesOptions, openNodes } from '../nodes/nodes.ts';
import { arrivalsReader, coinsAt } from './balances.ts';
import { Bytes, Header, Quantity } from './block.ts';
import { type Body, bodyReader, callTransfersOf } from './body.ts';
import { believedCalls, type Growth, needsBalances, type ShownCalls } from './calls-evidence.ts';
import { abilitiesOf, isLacking } from './internal-calls.ts';
import { proofsOf } from './proofs.ts';

export interface EvmSourceOptions {
  readonly network: Extract<Network, { kind: 'evm' }>;
  /** All assets of the network. */
  readonly assets: readonly Asset[];
  readonly nodes: NodesOptions;
}

/** Reads an EVM chain by JSON-RPC: always by the hash of a block, so a reorganization between two calls is an error and
 *  no mixture. The hash proves transfers where the form of the chain is known (ADR 29), so one node is enough for them.
 *  All nodes are asked for the rest: calls inside transactions, and blocks that cannot be proven. */
export const evmSource = ({
  network,
  assets,
  nodes: options,
}: EvmSourceOptions): ChainSource & { readonly close: () => Promise<void> } => {
  const nodes = openNodes(options, (node) => checkDeployment(node, network, assets));
  const abilities = abilitiesOf(options.nowMs ?? (() => performance.now()));
  const assetByContract = new Map(assets.map((asset) => [asset.contract?.toLowerCase(), asset.id]));
  const nativeAsset = assetByContract.get(undefined);
  const proofs = proofsOf(network.chainId, options.onUnproven ?? (() => {}));
  const arrivals = arrivalsReader(nodes, assets);
  const readBody = bodyReader({ abilities, proofs, assetByContract });
  const readCalls = nativeAsset === undefined ? null : callsReader({ nodes, abilities, nativeAsset });

  /** A proven reading wins. Without one, all nodes have to show the same. */
  const agreedBody = async (found: NodeAnswer<Body>, ref: BlockRef, watched: Watched): Promise<Agreed<Body>> => {
    if (found.answer.isProven) return { ...found, nodes: [found.node.number] };
    const others = await nodes.each((node) => readBody(node, ref, watched), { except: found.node });
    const all: readonly NodeAnswer<Body | null>[] = [found, ...others];
    const proven = all.find(({ answer }) => answer?.isProven) as NodeAnswer<Body> | undefined;
    const chosen = proven ?? found;
    const isSame = ({ answer }: NodeAnswer<Body | null>) =>
      answer !== null && textOf(answer.transfers) === textOf(chosen.answer.transfers);
    const different = all.filter((each) => !isSame(each));
    if (different.length > 0 && !proven)
      throw nodes.disagreement(
        `the transfers of block ${ref.hash}`,
        all.map(({ node, answer }) => ({ node, answer: answer && spoken(answer.transfers) })),
      );
    for (const { node, answer } of different)
      if (answer) nodes.fault(node, 'mismatch', `shows other transfers in block ${ref.hash} than its hash proves`);
    return { ...chosen, nodes: all.filter(isSame).map(({ node }) => node.number) };
  };

  return {
    verify: async () => void (await nodes.each(async () => {}, { evenUnused: true })),
    ...agreedPositions(nodes, POSITIONS, {
      staleMs: staleAfterMs(network.chainId),
      now: options.now,
      nowMs: options.nowMs,
    }),
    block: async (ref, watched, { not } = {}): Promise<Block> => {
      const found = await nodes.first((node) => readBody(node, ref, watched), not);
      if (!found) throw new ReorganizedError(ref);
      const { answer: body, nodes: showing } = await agreedBody(found, ref, watched);
      const calls = readCalls ? await readCalls(body, watched) : NO_CALLS;
      const arrived = await arrivals(body);
      const order = new Map(body.block.transactions.map(({ hash }, index) => [hash, index]));
      return {
        ref,
        parent: body.block.header.parentHash,
        time: new Date(body.block.header.timestamp * 1_000),
        transfers: [...arrived.transfers, ...(calls?.transfers ?? [])].toSorted(
          (one, other) => order.get(one.txHash)! - order.get(other.txHash)!,
        ),
        nodes: calls && calls.transfers.length > 0 ? calls.nodes : showing,
        isProven: arrived.isProven,
        isTraced: calls !== null,
      };
    },
    balances: async ({ hash }, addresses) =>
      (await nodes.first((node) => coinsAt(node, hash, addresses)))?.answer ?? null,
    isFinal: finalityOf(nodes),
    close: nodes.close,
  };
};

/** The calls that pay watched addresses; null if no node has traces of the block. Throws ChainNodeError if the traces
 *  of nodes differ, and the growth of balances does not decide between them. */
const callsReader = ({
  nodes,
  abilities,
  nativeAsset,
}: {
  readonly nodes: Nodes;
  readonly abilities: ReturnType<typeof abilitiesOf>;
  readonly nativeAsset: string;
}) => {
  /** Null if the node has no traces of the block. */
  const shownBy = async (node: RpcNode, { block }: Body, watched: Watched): Promise<ShownCalls | null> => {
    try {
      const calls = await (await abilities(node)).internalCalls?.(node, block);
      if (!calls) return null;
      return {
        node: node.number,
        calls,
        transfers: await onlyToWatched(callTransfersOf(block, calls, nativeAsset), watched),
      };
    } catch (error) {
      if (isLacking(error)) return null; // many nodes have no traces of old blocks
      throw error;
    }
  };

  const growthsOf = async ({ block, parties }: Body, shown: readonly ShownCalls[]): Promise<Growth[]> => {
    const paid = new Set(shown.flatMap(({ transfers }) => transfers.map(({ address }) => address.toLowerCase())));
    const addresses = [...paid].filter((address) => !parties.has(address));
    const answers = await nodes.each(async (node) => {
      const before = await coinsAt(node, block.header.parentHash, addresses);
      const after = before && (await coinsAt(node, block.header.hash, addresses));
      return after && new Map(addresses.map((address) => [address, after.get(address)! - before.get(address)!]));
    });
    return answers.flatMap(({ node, answer }) => (answer ? [{ node: node.number, units: answer }] : []));
  };

  return async (
    body: Body,
    watched: Watched,
  ): Promise<{ transfers: readonly Transfer[]; nodes: readonly number[] } | null> => {
    const answers = await nodes.each((node) => shownBy(node, body, watched));
    const shown = answers.flatMap(({ answer }) => answer ?? []);
    if (shown.length === 0) return null;
    const growths = needsBalances(shown) ? await growthsOf(body, shown) : [];
    const verdict = believedCalls({ shown, growths, brought: body.brought });
    const { hash } = body.block.header;
    if (verdict.kind === 'undecided') {
      const said = answers.flatMap(({ node, answer }) => (answer ? [{ node, answer: spoken(answer.transfers) }] : []));
      throw said.length > 1
        ? nodes.disagreement(`the calls inside transactions of block ${hash}`, said)
        : new ChainNodeError('mismatch', `node ${shown[0]!.node}: calls of block ${hash} do not fit how balances grew`);
    }
    for (const { node } of answers)
      if (verdict.faulty.includes(node.number))
        nodes.fault(node, 'mismatch', `shows calls in block ${hash} that do not fit how balances grew`);
    return verdict;
  };
};

/** An answer, and the numbers of the nodes that gave the same. */
interface Agreed<T> extends NodeAnswer<T> {
  readonly nodes: readonly number[];
}

const NO_CALLS = { transfers: [], nodes: [] };

const textOf = (transfers: readonly Transfer[]): string =>
  transfers.map(({ id, address, asset, units }) => `${id} ${address} ${asset} ${units}`).join();

/** For an operator, who compares it with an explorer. */
const spoken = (transfers: readonly Transfer[]): string =>
  `${transfers.length} (${transfers.map(({ id, units }) => `${id} of ${units} units`).join('; ')})`;

const POSITIONS: Positions = {
  head: async (node) => {
    const method = 'eth_getBlockByNumber';
    const { number, hash, timestamp } = checkedAnswer(node, method, Header, await node.call(method, ['latest', false]));
    return { height: number, hash, time: new Date(timestamp * 1_000) };
  },
  hashAt: async (node, height) => {
    const method = 'eth_getBlockByNumber';
    const answer = await node.call(method, [`0x${height.toString(16)}`, false]);
    if (answer === null) return null;
    const { hash, number } = checkedAnswer(node, method, Header, answer);
    requireMatch(number === height, node, method, 'is the block of another height');
    return hash;
  },
};

/** Says by the tag `finalized` whether a block is final: on a layer 2, whether layer 1 has made it final. All answering
 *  nodes have to agree. A node without the tag is one that does not answer. */
const finalityOf = (nodes: Pick<Nodes, 'all'>): NonNullable<ChainSource['isFinal']> => {
  let final = -1;
  return async ({ height }) => {
    if (height <= final) return true;
    const method = 'eth_getBlockByNumber';
    const heights = await nodes.all(async (node) => {
      const answer = await node.call(method, ['finalized', false]);
      return answer === null ? -1 : checkedAnswer(node, method, Header, answer).number;
    });
    final = Math.max(final, Math.min(...heights));
    return height <= final;
  };
};

// The selector of `decimals()`. Source: ERC-20.
const DECIMALS_CALL = '0x313ce567';

/** Throws WrongChainError if the node serves another chain, or if a token has no code or other decimals there. */
const checkDeployment = async (
  node: RpcNode,
  { name, chainId }: Pick<Network, 'name' | 'chainId'>,
  assets: readonly Asset[],
): Promise<void> => {
  const served = checkedAnswer(node, 'eth_chainId', Quantity, await node.call('eth_chainId'));
  if (`eip155:${served}` !== chainId)
    throw new WrongChainError(`node ${node.number} of ${name} serves eip155:${served}, but configured is ${chainId}`);
  for (const { currency, contract, decimals } of assets) {
    if (contract === undefined) continue;
    const token = `${currency} on ${name} (${contract})`;
    const code = checkedAnswer(node, 'eth_getCode', Bytes, await node.call('eth_getCode', [contract, 'latest']));
    if (code === '0x') throw new WrongChainError(`${token} has no code on node ${node.number}`);
    const found = await decimalsOf(node, contract);
    if (found !== BigInt(decimals))
      throw new WrongChainError(
        `${token} has ${found ?? 'no'} decimals on node ${node.number}, configured are ${decimals}`,
      );
  }
};

/** Null if the contract has no such function. */
const decimalsOf = async (node: RpcNode, contract: string): Promise<bigint | null> => {
  try {
    const answer = await node.call('eth_call', [{ to: contract, data: DECIMALS_CALL }, 'latest']);
    const word = checkedAnswer(node, 'eth_call', Bytes, answer);
    return word.length === 66 ? BigInt(word) : null;
  } catch (error) {
    // Any other error says nothing about the contract.
    if (error instanceof RpcError && error.kind === 'reverted') return null;
    throw error;
  }
};
