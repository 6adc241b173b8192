import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@cpg/ports';
import { goProgram } from './go-program.ts';
import { type BitcoinNode, type BitcoinNodeOptions, startNode } from './node-process.ts';

/** btcd, which takes about a minute to build. */
export const { find: findBtcd, install: installBtcd } = goProgram({
  name: 'btcd',
  module: 'github.com/btcsuite/btcd@v0.26.2',
  variable: 'BTCD_BIN',
});

/** Starts btcd with an empty chain in a temporary folder. Throws Error where btcd was not built. */
export const startBtcd = async (options: BitcoinNodeOptions): Promise<BitcoinNode> => {
  const { miningAddress, chain = 'regtest', onOutput } = options;
  const file = findBtcd();
  if (!file) throw new Error('btcd is missing: build it with Go, or set BTCD_BIN');
  const folder = mkdtempSync(join(tmpdir(), 'btcd-'));
  const configFile = join(folder, 'empty.conf');
  writeFileSync(configFile, '');
  const [rpcPort, peerPort] = [await freePort(), await freePort()];
  const peer = `127.0.0.1:${peerPort}`;
  const args = [
    ...[`--${chain}`, '--nodnsseed', '--notls', '--txindex', `--configfile=${configFile}`],
    ...[`--datadir=${folder}`, `--logdir=${join(folder, 'log')}`, '--rpcuser=user', '--rpcpass=pass'],
    ...[`--rpclisten=127.0.0.1:${rpcPort}`, `--listen=${peer}`],
    // btcd refuses an address of another chain.
    ...(chain === 'regtest' ? [`--miningaddr=${miningAddress}`] : []),
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
