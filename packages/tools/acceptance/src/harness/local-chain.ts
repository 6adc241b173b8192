import { rpcClient, type RpcCall } from '@cpg/local-chain';
import type { StackFiles } from './stack-files.ts';

/** The EVM chain that a stack runs. */
export const LOCAL_NETWORK = 'ethereum-local';

/** Calls to the chain of a stack; null if it runs none. */
export const chainOf = ({ environment }: StackFiles, network = LOCAL_NETWORK): RpcCall | null => {
  const urls = JSON.parse(environment.CHAIN_URLS || '{}') as Record<string, string[]>;
  const url = urls[network]?.[0];
  return url === undefined ? null : rpcClient(url);
};
