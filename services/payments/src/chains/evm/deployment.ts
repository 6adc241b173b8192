import type { Asset, Network } from '@cpg/assets';
import { checkedAnswer } from '../nodes/answers.ts';
import { WrongChainError } from '../chain-source.ts';
import { RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import { Bytes, Quantity } from './answers.ts';

// The selector of `decimals()`. Source: ERC-20.
const DECIMALS_CALL = '0x313ce567';

/** Throws WrongChainError if the node serves another chain, or if a token has no code or other decimals there. */
export const checkDeployment = async (
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
