import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChainNode, freePort, startNode } from './node-process.ts';

const VERSION = 'v0.26.2';
const FOLDER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'cpg-test-nodes', `btcd-${VERSION}`);

/** Path of btcd, a Bitcoin node for tests: `BTCD_BIN`, or one that `installBtcd` built; null if there is none. */
export const findBtcd = (): string | null => {
  const file = process.env.BTCD_BIN ?? join(FOLDER, 'btcd');
  return existsSync(file) ? file : null;
};

/** Builds btcd by Go into a cache folder of the user, once: it takes about a minute. Throws Error without Go. */
export const installBtcd = (): string => {
  const found = findBtcd();
  if (found) return found;
  mkdirSync(FOLDER, { recursive: true });
  execFileSync('go', ['install', `github.com/btcsuite/btcd@${VERSION}`], {
    env: { ...process.env, GOBIN: FOLDER, GOFLAGS: '-mod=mod' },
    cwd: tmpdir(),
    stdio: 'pipe',
  });
  return join(FOLDER, 'btcd');
};

/** Whether tests can run on btcd. Otherwise reports that they are skipped, now and in the summary of `npm test`. */
export const canTestOnBtcd = (tests: string): boolean => {
  if (findBtcd()) return true;
  const reason = `${tests} are skipped: btcd is missing; with Go, node scripts/install-btcd.mjs builds it`;
  process.stderr.write(`${reason}\n`);
  if (process.env.SKIPPED_BECAUSE) appendFileSync(process.env.SKIPPED_BECAUSE, `${reason}\n`);
  return false;
};

export interface BtcdOptions {
  /** Address that gets the coins of blocks mined by `generate`. */
  readonly miningAddress: string;
  /** Peers, `host:port`, whose blocks it follows. */
  readonly connectTo?: readonly string[];
  readonly onOutput?: (text: string) => void;
}

export interface BtcdNode extends ChainNode {
  /** Where other nodes connect: `host:port`. */
  readonly peer: string;
}

/** Starts btcd with an empty regtest chain in a temporary folder. Throws Error where btcd was not built. */
export const startBtcd = async ({ miningAddress, connectTo = [], onOutput }: BtcdOptions): Promise<BtcdNode> => {
  const file = findBtcd();
  if (!file) throw new Error('btcd is missing: build it with Go, or set BTCD_BIN');
  const folder = mkdtempSync(join(tmpdir(), 'btcd-'));
  const configFile = join(folder, 'empty.conf');
  writeFileSync(configFile, '');
  const [rpcPort, peerPort] = [await freePort(), await freePort()];
  const peer = `127.0.0.1:${peerPort}`;
  const args = [
    ...['--regtest', '--nodnsseed', '--notls', '--txindex', `--configfile=${configFile}`],
    ...[`--datadir=${folder}`, `--logdir=${join(folder, 'log')}`, '--rpcuser=user', '--rpcpass=pass'],
    ...[`--rpclisten=127.0.0.1:${rpcPort}`, `--listen=${peer}`, `--miningaddr=${miningAddress}`],
    ...connectTo.map((other) => `--addpeer=${other}`),
  ];
  const url = `http://user:pass@127.0.0.1:${rpcPort}`;
  const node = await startNode({ file, args, url, readyCall: 'getblockcount', onOutput });
  return {
    ...node,
    peer,
    stop: async (signal) => {
      await node.stop(signal);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
