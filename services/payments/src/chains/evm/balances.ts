import type { Asset } from '@cpg/assets';
import type { Transfer } from '../chain-source.ts';
import { checkedAnswer, requireMatch, RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import type { NodeAnswer, Nodes } from '../nodes/nodes.ts';
import { Bytes, TRANSFER_TOPIC } from './block.ts';
import type { Body } from './body.ts';

// Init code that returns the balances of the addresses behind it: one call reads many, on every node. The answer counts
// as the code of a contract, which has at most 24,576 bytes (EIP-170).
const BALANCES_CODE =
  '0x6039380360005b81811015602d57601481603901600c3960005131816014900460051b602001526014016006565b506014900460051b6020f3';
const ADDRESSES_PER_CALL = 500;
const WORD_DIGITS = 64;
// The selector of `balanceOf(address)`. Source: ERC-20.
const BALANCE_OF = '0x70a08231';

/** The coins of some addresses after a block; null if the node has no state of it any more. */
export const coinsAt = async (
  node: RpcNode,
  blockHash: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, bigint> | null> => {
  const balances = new Map<string, bigint>();
  for (let start = 0; start < addresses.length; start += ADDRESSES_PER_CALL) {
    const some = addresses.slice(start, start + ADDRESSES_PER_CALL);
    const digits = await resultOf(node, { data: BALANCES_CODE + some.map(digitsOf).join('') }, blockHash);
    if (digits === null) return null;
    const isWhole = digits.length === some.length * WORD_DIGITS;
    requireMatch(isWhole, node, 'eth_call', 'has not one balance for each address');
    for (const [index, address] of some.entries())
      balances.set(address, BigInt(`0x${digits.slice(index * WORD_DIGITS, (index + 1) * WORD_DIGITS)}`));
  }
  return balances;
};

/** The tokens of an address after a block; null if the node has no state of it any more, or the contract does not
 *  say. */
const tokensAt = async (
  node: RpcNode,
  blockHash: string,
  { contract, address }: { readonly contract: string; readonly address: string },
): Promise<bigint | null> => {
  const data = BALANCE_OF + digitsOf(address).padStart(WORD_DIGITS, '0');
  const digits = await resultOf(node, { to: contract, data }, blockHash);
  return digits?.length === WORD_DIGITS ? BigInt(`0x${digits}`) : null;
};

const digitsOf = (address: string): string => address.slice(2).toLowerCase();

const resultOf = async (node: RpcNode, call: object, blockHash: string): Promise<string | null> => {
  try {
    return checkedAnswer(node, 'eth_call', Bytes, await node.call('eth_call', [call, { blockHash }])).slice(2);
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
};

interface Arrivals {
  readonly transfers: readonly Transfer[];
  /** The hash of a block proves what logs say, and nothing about balances. */
  readonly isProven: boolean;
}

/** Reduces the transfers of a block to the units that arrived: some tokens keep a part of each transfer as a fee and
 *  log the whole. Balances of the payee say so, if all nodes agree that have the state of the block. Without state,
 *  what the logs say counts. */
export const arrivalsReader = (nodes: Nodes, assets: readonly Asset[]): ((body: Body) => Promise<Arrivals>) => {
  const contractOf = new Map(assets.map(({ id, contract }) => [id, contract]));
  const withFees = new Set<string>();

  const arrivedAt = async (
    { block: { header }, receipts }: Body,
    contract: string,
    address: string,
  ): Promise<Arrived> => {
    const { paid, received } = loggedUnits(receipts, contract.toLowerCase(), address.toLowerCase());
    const answers = await nodes.each(async (node) => {
      const before = await tokensAt(node, header.parentHash, { contract, address });
      const after = before === null ? null : await tokensAt(node, header.hash, { contract, address });
      return after === null ? null : after - before! + paid;
    });
    return { received, arrived: mostOf(answers, received) };
  };

  return async (body) => {
    const found = new Map<string, Arrived>();
    for (const { address, asset } of body.transfers) {
      const contract = contractOf.get(asset);
      const key = `${asset} ${address}`;
      if (contract === undefined || found.has(key)) continue;
      const arrived = await arrivedAt(body, contract, address);
      if (arrived.arrived < arrived.received) withFees.add(asset);
      found.set(key, arrived);
    }
    const transfers = body.transfers.flatMap((transfer) => {
      const { received, arrived } = found.get(`${transfer.asset} ${transfer.address}`) ?? WHOLE;
      const units = (transfer.units * arrived) / received;
      return units > 0n ? [{ ...transfer, units }] : [];
    });
    return { transfers, isProven: body.isProven && !body.transfers.some(({ asset }) => withFees.has(asset)) };
  };
};

/** Units of a token that came to an address in a block: as the logs say, and as balances say. */
interface Arrived {
  readonly received: bigint;
  readonly arrived: bigint;
}
const WHOLE: Arrived = { received: 1n, arrived: 1n };

/** The most that a node says, so no single one takes units away; never more than the logs say. */
const mostOf = (answers: readonly NodeAnswer<bigint | null>[], received: bigint): bigint => {
  const known = answers.flatMap(({ answer }) => answer ?? []);
  if (known.length === 0) return received;
  const most = known.reduce((one, other) => (one > other ? one : other), 0n);
  return most < received ? most : received;
};

const loggedUnits = (receipts: Body['receipts'], contract: string, address: string) => {
  const topic = `0x${address.slice(2).padStart(64, '0')}`;
  const logs = receipts
    .filter(({ status }) => status === '0x1')
    .flatMap((receipt) => receipt.logs)
    .filter((log) => log.address === contract && log.topics[0] === TRANSFER_TOPIC && log.data.length === 66);
  const sum = (position: 1 | 2) =>
    logs.filter(({ topics }) => topics[position] === topic).reduce((total, { data }) => total + BigInt(data), 0n);
  return { paid: sum(1), received: sum(2) };
};
