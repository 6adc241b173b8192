import { checkedAnswer, requireMatch } from '../nodes/answers.ts';
import { RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import { Bytes } from './answers.ts';

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

/** The tokens of an address after a block; null if the node has no state of it any more, or the contract does not say. */
export const tokensAt = async (
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
