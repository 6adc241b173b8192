import { type Transfer, type Watched } from '../chain-source.ts';
import type { RpcNode } from '../json-rpc.ts';
import { Bytes, checkedAnswer, requireMatch } from './answers.ts';
import type { EvmBlock } from './block.ts';

// Init code that returns the balances of the addresses behind it: one call reads many, on every node. The answer counts
// as the code of a contract, which has at most 24,576 bytes (EIP-170).
const BALANCES_CODE =
  '0x6039380360005b81811015602d57601481603901600c3960005131816014900460051b602001526014016006565b506014900460051b6020f3';
const ADDRESSES_PER_CALL = 500;
const WORD_DIGITS = 64;

/** For nodes without traces: what grew in a block beyond the transfers that were found, one transfer for each address.
 *  It has no transaction, so its id is the place and the amount. Ignores addresses that pay in the same block. Throws
 *  RpcError where the node no longer has the state of the block. */
export const surplusesIn = async (
  node: RpcNode,
  { header, transactions }: EvmBlock,
  found: readonly Transfer[],
  { watched, asset }: { watched: Watched; asset: string },
): Promise<Transfer[]> => {
  const senders = new Set(transactions.map(({ from }) => from));
  const addresses = [...watched.keys()].filter((address) => !senders.has(address.toLowerCase()));
  const surpluses: Transfer[] = [];
  for (let start = 0; start < addresses.length; start += ADDRESSES_PER_CALL) {
    const some = addresses.slice(start, start + ADDRESSES_PER_CALL);
    const [before, after] = await Promise.all([
      balancesAt(node, header.parentHash, some),
      balancesAt(node, header.hash, some),
    ]);
    for (const [index, address] of some.entries()) {
      const units = after[index]! - before[index]! - unitsTo(address, asset, found);
      if (units > 0n)
        surpluses.push({ id: `${address}:surplus-${header.number}-${units}`, txHash: null, address, asset, units });
    }
  }
  return surpluses;
};

const unitsTo = (address: string, asset: string, found: readonly Transfer[]): bigint =>
  found
    .filter((transfer) => transfer.address === address && transfer.asset === asset)
    .reduce((sum, { units }) => sum + units, 0n);

const balancesAt = async (node: RpcNode, blockHash: string, addresses: readonly string[]): Promise<bigint[]> => {
  const data = BALANCES_CODE + addresses.map((address) => address.slice(2)).join('');
  const words = checkedAnswer(node, 'eth_call', Bytes, await node.call('eth_call', [{ data }, { blockHash }])).slice(2);
  requireMatch(
    words.length === addresses.length * WORD_DIGITS,
    node,
    'eth_call',
    'has not one balance for each address',
  );
  return addresses.map((_, index) => BigInt(`0x${words.slice(index * WORD_DIGITS, (index + 1) * WORD_DIGITS)}`));
};
