import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@cpg/ports';
import { firstExisting, onPath, reportSkipped, toolFolder } from './binaries.ts';
import { type BitcoinNode, type BitcoinNodeOptions, startNode } from './node-process.ts';
import { goProgram } from './go-program.ts';

/** btcd, which takes about a minute to build. */
const btcd = goProgram({
  name: 'btcd',
  module: 'github.com/btcsuite/btcd@v0.26.2',
  variable: 'BTCD_BIN',
});

export const installBtcd = btcd.install;

/** Starts btcd with an empty chain in a temporary folder. Throws Error where btcd was not built. */
const startBtcd = async (options: BitcoinNodeOptions): Promise<BitcoinNode> => {
  const { miningAddress, chain = 'regtest', onOutput } = options;
  const file = btcd.find();
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

const RELEASE = 'trixie-backports';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const FOLDER = toolFolder('bitcoin-knots');
const INSTALLED = join(FOLDER, 'bitcoind');

/** Path of bitcoind: `BITCOIND_BIN`, from `installBitcoind`, or on the PATH; null if none. */
const findBitcoind = (): string | null =>
  process.env.BITCOIND_BIN
    ? firstExisting([process.env.BITCOIND_BIN])
    : (firstExisting([INSTALLED]) ?? onPath('bitcoind'));

/** Extracts Debian's Bitcoin Knots and its libraries into a cache folder of the user, so it runs on
 *  other Linux versions and changes no package of the machine. Throws Error without apt. */
export const installBitcoind = (): string => {
  const found = findBitcoind();
  if (found) return found;
  const [apt, root] = [join(FOLDER, 'apt'), join(FOLDER, 'root')];
  for (const folder of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(apt, folder), { recursive: true });
  mkdirSync(root, { recursive: true });
  const site = debianSite();
  const suites = ['trixie', RELEASE].map((suite) => `deb [signed-by=${KEYRING}] ${site} ${suite} main\n`);
  writeFileSync(join(apt, 'sources.list'), suites.join(''));
  const config = {
    'Dir::Etc::sourcelist': join(apt, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(apt, 'lists'),
    // Hides the installed packages from apt, so that it downloads all libraries.
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(apt, 'cache'),
    'APT::Sandbox::User': 'root',
    'APT::Install-Recommends': 'false',
  };
  const file = join(apt, 'apt.conf');
  writeFileSync(
    file,
    Object.entries(config)
      .map(([name, value]) => `${name} "${value}";\n`)
      .join(''),
  );
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { env: { ...process.env, APT_CONFIG: file }, stdio: 'pipe' });
  run('apt-get', 'update');
  run('apt-get', 'install', '--download-only', '--yes', '--target-release', RELEASE, 'bitcoin-knots');
  const archives = join(apt, 'cache/archives');
  for (const name of readdirSync(archives).filter((each) => each.endsWith('.deb')))
    run('dpkg', '--extract', join(archives, name), root);
  rmSync(apt, { recursive: true, force: true });
  writeStarter(root);
  return INSTALLED;
};

/** The Debian mirror of this machine. */
const debianSite = (): string => {
  const targets = execFileSync('apt-get', ['indextargets', '--format', '$(REPO_URI)'], { encoding: 'utf8' });
  const site = targets.match(/^(\S+\/debian\/)$/m)?.[1];
  if (!site) throw new Error('apt of this machine has no packages of Debian');
  return site;
};

/** A script that runs bitcoind with the libraries beside it. */
const writeStarter = (root: string): void => {
  const machine = process.arch === 'x64' ? 'x86_64' : 'aarch64';
  const libraries = join(root, `usr/lib/${machine}-linux-gnu`);
  const loader = readdirSync(libraries).find((name) => /^ld-linux-.*\.so\.\d$/.test(name));
  if (!loader) throw new Error(`there is no loader of programs in ${libraries}`);
  const command = `${join(libraries, loader)} --library-path ${libraries} ${join(root, 'usr/bin/bitcoind')}`;
  writeFileSync(INSTALLED, `#!/bin/sh\nexec ${command} "$@"\n`);
  chmodSync(INSTALLED, 0o755);
};

interface BitcoindOptions extends BitcoinNodeOptions {
  /** Keeps the chain there. Without it, the chain is empty and temporary. */
  readonly folder?: string;
  /** Whether it finds a transaction of any block; by default yes. */
  readonly hasIndex?: boolean;
}

/** Starts bitcoind. Throws Error where there is none. */
const startBitcoind = async (options: Partial<BitcoindOptions> = {}): Promise<BitcoinNode> => {
  const { folder, chain = 'regtest', hasIndex = true, onOutput } = options;
  const file = findBitcoind();
  if (!file) throw new Error('bitcoind is missing: install Bitcoin Core or Bitcoin Knots, or set BITCOIND_BIN');
  const data = folder ?? mkdtempSync(join(tmpdir(), 'bitcoind-'));
  mkdirSync(data, { recursive: true });
  const [rpcPort, peerPort] = [await freePort(), await freePort()];
  const peer = `127.0.0.1:${peerPort}`;
  const args = [
    ...[
      `-${chain}`,
      '-server',
      `-txindex=${Number(hasIndex)}`,
      '-disablewallet',
      '-listenonion=0',
      '-dnsseed=0',
      '-fixedseeds=0',
    ],
    ...['-natpmp=0', '-discover=0', '-printtoconsole=0', '-rpcuser=user', '-rpcpassword=pass'],
    ...[`-datadir=${data}`, `-rpcport=${rpcPort}`, `-port=${peerPort}`, `-bind=${peer}`],
  ];
  const url = `http://user:pass@127.0.0.1:${rpcPort}`;
  const node = await startNode({ file, args, url, readyCall: 'getblockcount', onOutput });
  const stop = async (signal?: NodeJS.Signals) => {
    await node.stop(signal);
    if (folder === undefined) rmSync(data, { recursive: true, force: true });
  };
  return { ...node, peer, stop };
};

/** Bitcoin nodes for tests. bitcoind is from Bitcoin Core or from its fork, Bitcoin Knots. */
export const BITCOIN_NODES = {
  btcd: { find: btcd.find, start: startBtcd, install: 'install-btcd.mjs builds it with Go' },
  bitcoind: { find: findBitcoind, start: startBitcoind, install: 'install-bitcoind.mjs installs it where apt is' },
} as const;

export type BitcoinNodeName = keyof typeof BITCOIN_NODES;

export const BITCOIN_NODE_NAMES = Object.keys(BITCOIN_NODES) as BitcoinNodeName[];

/** Whether tests can run on a Bitcoin node. Otherwise reports that they are skipped. */
export const canTestOn = (name: BitcoinNodeName, tests: string): boolean => {
  const { find, install } = BITCOIN_NODES[name];
  if (find()) return true;
  reportSkipped(`${tests} are skipped: ${name} is missing; node scripts/${install}`);
  return false;
};

/** Connects two nodes, which then follow the chain with more work. */
export const connectPeers = async (node: BitcoinNode, other: BitcoinNode): Promise<void> =>
  void (await node.call('addnode', other.peer, 'add'));

/** Copies the blocks of a node up to a height to another one without connecting them. */
export const copyBlocks = async (from: BitcoinNode, to: BitcoinNode, height: number): Promise<void> => {
  for (let at = (await to.call<number>('getblockcount')) + 1; at <= height; at += 1) {
    const hash = await from.call<string>('getblockhash', at);
    await to.call('submitblock', await from.call<string>('getblock', hash, 0));
  }
};
