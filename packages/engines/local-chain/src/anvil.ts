import { chmodSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { wallClockMs } from '@cpg/platform';
import { freePort, isFree } from '@cpg/ports';
import { onPath } from './binaries.ts';
import { type ChainNode, type RpcCall, startNode } from './node-process.ts';

export interface AnvilOptions {
  /** A free one unless given. */
  readonly port?: number;
  /** Chain id [31337]. */
  readonly chainId?: number;
  /** Seconds between blocks. Without it, each transaction is mined at once in a block of its own. */
  readonly blockSeconds?: number;
  /** File that keeps the chain: written when the node ends by SIGINT, read when it starts. */
  readonly stateFile?: string;
  readonly moreArgs?: readonly string[];
  readonly onOutput?: (text: string) => void;
}

/** Path of anvil: `ANVIL_BIN`, the npm binary for this platform, or on the PATH; null if none.
 *  Not the npm wrapper: it leaves its child behind when it is killed. */
export const findAnvil = (): string | null => {
  if (process.env.ANVIL_BIN) return process.env.ANVIL_BIN;
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  try {
    const binary = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin/anvil');
    chmodSync(binary, 0o755);
    return binary;
  } catch {
    return onPath('anvil');
  }
};

/** Starts anvil, an EVM node with a chain of its own. Throws Error where npm has no binary for the platform. */
export const startAnvil = async ({
  port,
  chainId = 31_337,
  blockSeconds,
  stateFile,
  moreArgs = [],
  onOutput,
}: AnvilOptions = {}): Promise<ChainNode> => {
  const file = findAnvil();
  if (!file)
    throw new Error(`npm has no anvil for ${process.platform}-${process.arch}: install Foundry, or set ANVIL_BIN`);
  if (port !== undefined && !(await isFree(port))) throw new Error(`port ${port} is taken`);
  const listenPort = port ?? (await freePort());
  const args = ['--host', '127.0.0.1', '--port', String(listenPort), '--chain-id', String(chainId), '--silent'];
  if (blockSeconds !== undefined) args.push('--block-time', String(blockSeconds));
  if (stateFile !== undefined) args.push('--state', stateFile);
  args.push(...moreArgs);
  return startNode({ file, args, url: `http://127.0.0.1:${listenPort}`, readyCall: 'eth_chainId', onOutput });
};

/** Sets anvil's clock to that of this machine, in whole seconds. Without it, time goes on from block 0. */
export const setClock = async (call: RpcCall, now: () => number = wallClockMs): Promise<void> => {
  const second = () => Math.floor(now() / 1_000);
  let set: number;
  // If a second ended meanwhile, the chain would stay a second behind.
  do await call('evm_setTime', (set = second()));
  while (set !== second());
};
