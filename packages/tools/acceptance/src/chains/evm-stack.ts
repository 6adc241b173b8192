import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AssetsFile, readAssets } from '@cpg/assets';
import { findAnvil, reportSkipped, type RpcCall, rpcClient, TEST_TOKENS } from '@cpg/local-chain';
import { rpcOf, LOCAL_NETWORK } from '../harness/chains.ts';
import type { Stack } from '../harness/stack.ts';
import { type Desk, startDesk } from './desk.ts';

/** Tests on an EVM chain run where anvil is there. */
export const onEvm = findAnvil() ? describe : describe.skip;
if (!findAnvil()) reportSkipped('tests on an EVM chain are skipped: anvil is missing: npm has none for this machine');

export interface EvmStack {
  readonly stack: Stack;
  readonly call: RpcCall;
  readonly desk: Desk;
  readonly stop: () => Promise<void>;
}

export interface EvmStackOptions {
  /** Nodes to read instead of the chain that the stack runs. */
  readonly nodeUrls?: readonly string[];
  /** Numbers of instances. */
  readonly scale?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A stack whose deposits need so many confirmations. */
export const startEvmStack = async (
  confirmations: number,
  { nodeUrls, scale, env }: EvmStackOptions = {},
): Promise<EvmStack> => {
  const folder = mkdtempSync(join(tmpdir(), 'cpg-assets-'));
  const file = join(folder, 'assets.json');
  writeFileSync(file, JSON.stringify(assetsWith(confirmations)));
  const chain = nodeUrls ? { CHAIN_URLS: JSON.stringify({ [LOCAL_NETWORK]: nodeUrls }) } : { CHAIN: 'on' };
  const { stack, desk } = await startDesk(LOCAL_NETWORK, {
    scale,
    env: { ...chain, ASSETS_FILE: file, WEBHOOK_RETRY_SECONDS: '1,1,1', ...env },
  });
  const stop = async () => {
    await desk.close();
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { stack, call: nodeUrls ? rpcClient(nodeUrls[0]!) : rpcOf(stack)!, desk, stop };
};

const assetsWith = (confirmations: number): AssetsFile => {
  const { networks } = readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 });
  const { xpub } = networks.find(({ name }) => name === 'ethereum-sepolia')!;
  const row = { network: LOCAL_NETWORK, smallest_payable: '0.000001', confirmations };
  return {
    networks: [{ network: LOCAL_NETWORK, chain_id: 'eip155:31337', ...(xpub && { xpub }) }],
    assets: [
      { ...row, currency: 'ETH', native: true, decimals: 18 },
      ...TEST_TOKENS.map(({ currency, contract, decimals }) => ({ ...row, currency, contract, decimals })),
    ],
  };
};
