import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { deployTestTokens, rpcClient, type RpcCall, setClock } from '@cpg/local-chain';
import { stateArguments } from '../processes/leftover-processes.ts';
import type { Program } from '../processes/supervisor.ts';

export interface ChainProgramOptions {
  /** Path of anvil. */
  readonly file: string;
  readonly port: number;
  readonly dataDir: string;
  readonly onLine: (line: string) => void;
  readonly warn: (sentence: string) => void;
}

// A killed chain loses the blocks of at most this time. Without transactions there are none.
const SAVE_SECONDS = 5;
const COINS_PER_ACCOUNT = 1_000_000;
const POLL_MS = 20;
// anvil makes block 0 anew at each start. With one time for it, its hash stays the same.
const GENESIS_SECONDS = 1_700_000_000;

/** Runs anvil: an EVM chain with test tokens, which mines each transaction at once and keeps its blocks in the data
 *  folder. It counts as started once the tokens are there. */
export const chainProgram = ({ file, port, dataDir, onLine, warn }: ChainProgramOptions): Program => ({
  name: 'chain',
  launch: async (onSpawn) => {
    const [option, stateFile] = stateArguments(dataDir);
    setUnreadableAside(stateFile, warn);
    // A payment that comes before the clock is set waits for it. A block of 2023 would be older than its order.
    const args = [
      '--no-mining',
      ...['--timestamp', String(GENESIS_SECONDS)],
      ...['--host', '127.0.0.1', '--port', String(port), '--silent', '--balance', String(COINS_PER_ACCOUNT)],
      ...[option, stateFile, '--state-interval', String(SAVE_SECONDS)],
    ];
    const child = spawn(file, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine);
    onSpawn(child);
    const call = rpcClient(`http://127.0.0.1:${port}`);
    if (!(await answers(child, call))) return;
    await setClock(call);
    await call('evm_setAutomine', true);
    await deployTestTokens(call);
  },
});

/** Resolves to whether the process answers; false once it has ended. */
const answers = async (child: ChildProcess, call: RpcCall): Promise<boolean> => {
  while (child.exitCode === null && child.signalCode === null) {
    try {
      await call('eth_chainId');
      return true;
    } catch {
      await sleep(POLL_MS);
    }
  }
  return false;
};

/** A chain that was killed while it saved its blocks would not start any more. */
const setUnreadableAside = (stateFile: string, warn: (sentence: string) => void): void => {
  if (!existsSync(stateFile)) return;
  try {
    JSON.parse(readFileSync(stateFile, 'utf8'));
  } catch {
    renameSync(stateFile, `${stateFile}.unreadable`);
    warn(
      `${stateFile} cannot be read and was set aside: the chain begins again, and "npm run reset" lets orders follow`,
    );
  }
};
