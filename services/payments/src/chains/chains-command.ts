import { type Asset, AssetsConfig, readAssets } from '@cpg/assets';
import { createPool, type Queryable } from '@cpg/postgres';
import { ConfigError, createLogger, readConfig, ServiceConfig } from '@cpg/runtime';
import { archivedAddress } from './archive.ts';
import { type Balances, balances } from './balances.ts';
import { type ChainStatus, chainStatuses, requestRescan } from './chain-status.ts';
import { failingReports, retryReports } from './failing-reports.ts';

const USAGE = `  chains status                            how far each chain was read; exit code 1 when one halted
  chains rescan --network N --from HEIGHT  reads a chain again from this block on, and ends a halt
  chains archive --address A [--watch]     the orders that show an address, and whether it has retired;
                                           --watch looks for money there again, for good
  chains balances [--all]                  what assigned addresses received, with derivation paths, as CSV; exit code 1
                                           when ASSETS_FILE lacks an asset
  chains reports                           deposits that cannot be recorded as payments, as CSV; exit code 1 if any
  chains reports --retry ID                records the deposit of this transfer or payment again, or of "all"`;

const Config = ServiceConfig.pick({ DATABASE_URL: true, ENVIRONMENT: true, CAZ_DECIMALS: true }).extend(
  AssetsConfig.shape,
);

/** The command cannot be executed as it was given. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface ChainsCommand {
  readonly db: Queryable;
  readonly assets: readonly Asset[];
  readonly networks: readonly string[];
  readonly print: (line: string) => void;
  /** Prints what is no part of the answer. */
  readonly warn: (line: string) => void;
}

/** Runs `chains …` of an operator. Resolves to the exit code: 0, 1 for a halted chain, 2 for a failure. */
export const runChainsCommand = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const warn = (line: string) => void process.stderr.write(`${line}\n`);
  try {
    const config = readConfig(Config, env);
    const { assets, networks } = readAssets(config);
    const log = createLogger({ name: 'admin', level: 'warn' });
    const pool = createPool({ url: config.DATABASE_URL, name: 'admin', max: 1, log });
    const names = networks.map(({ name }) => name);
    return await executeChains(args, { db: pool, assets, networks: names, print, warn }).finally(() => pool.end());
  } catch (error) {
    const isExpected = error instanceof UsageError || error instanceof ConfigError;
    process.stderr.write(`${isExpected ? error.message : `the command failed: ${(error as Error).message}`}\n`);
    return 2;
  }
};

export const executeChains = async ([verb, ...options]: readonly string[], command: ChainsCommand): Promise<number> => {
  const { db, assets, print } = command;
  if (verb === 'status' && options.length === 0) return printStatus(await chainStatuses(db), print);
  if (verb === 'rescan') return rescan(options, command);
  if (verb === 'balances' && options.every((option) => option === '--all')) {
    return printBalances(await balances(db, assets, { all: options.length > 0 }), command);
  }
  if (verb === 'archive') {
    const [name, address, watch, ...rest] = options;
    if (name !== '--address' || !address || (watch ?? '--watch') !== '--watch' || rest.length > 0)
      throw new UsageError(USAGE);
    for (const line of await archivedAddress(db, address, { watch: watch !== undefined })) print(line);
    return 0;
  }
  if (verb === 'reports' && options.length === 0) {
    const [header, ...lines] = await failingReports(db, assets);
    for (const line of [header!, ...lines]) print(line);
    return lines.length > 0 ? 1 : 0;
  }
  if (verb === 'reports' && options.length === 2 && options[0] === '--retry') return retry(options[1]!, command);
  throw new UsageError(USAGE);
};

const retry = async (wanted: string, { db, print }: ChainsCommand): Promise<number> => {
  const transfers = await retryReports(db, wanted);
  for (const transfer of transfers) print(`${transfer} is reported again within seconds, if its chain is read`);
  if (transfers.length > 0) return 0;
  if (wanted !== 'all') throw new UsageError(`no report of ${wanted} fails: "chains reports" shows the ones that do`);
  print('no report fails');
  return 0;
};

const printBalances = ({ lines, lost, unknownAssets }: Balances, { print, warn }: ChainsCommand): number => {
  for (const line of lines) print(line);
  if (lost > 0)
    warn(
      `the tables of the chains lost ${lost} transfers: their amounts come from recorded payments, so dust, transfers without a payment and payments of deleted orders may be missing`,
    );
  if (unknownAssets.length > 0)
    warn(
      `amounts of ${unknownAssets.join(', ')} are in the smallest units, because the file of assets does not have them: set ASSETS_FILE as for the services`,
    );
  return unknownAssets.length > 0 ? 1 : 0;
};

const printStatus = (statuses: readonly ChainStatus[], print: (line: string) => void): number => {
  for (const { network, height, hash, tip, readAt, halted, waiting, rescanFrom, open } of statuses) {
    const read = height === null ? 'nothing was read' : `read up to block ${height} (${hash}) of ${tip ?? 'unknown'}`;
    const when = readAt ? `, complete at ${readAt.toISOString()}` : '';
    print(`${network}: ${read}${when}, ${open} transfers may still change`);
    if (halted !== null) print(`${network}: HALTED: ${halted}`);
    if (waiting !== null) print(`${network}: reading waits: ${waiting}`);
    if (rescanFrom !== null) print(`${network}: a rescan from block ${rescanFrom} waits for its turn`);
  }
  if (statuses.length === 0) print('no chain was read: set CHAIN_URLS');
  return statuses.some(({ halted }) => halted !== null) ? 1 : 0;
};

const rescan = async (options: readonly string[], { db, networks, print }: ChainsCommand): Promise<number> => {
  const given = new Map<string, string>();
  for (let n = 0; n < options.length; n += 2) given.set(options[n]!, options[n + 1] ?? '');
  const [network, from] = [given.get('--network'), given.get('--from')];
  if (given.size !== 2 || network === undefined || from === undefined || !/^\d{1,12}$/.test(from))
    throw new UsageError(USAGE);
  if (!networks.includes(network))
    throw new UsageError(`there is no network ${network}: it is one of ${networks.join(', ')}`);
  const { height = null } = (await chainStatuses(db)).find((each) => each.network === network) ?? {};
  await requestRescan(db, network, Number(from));
  if (height !== null && Number(from) > height + 1)
    print(`money in the blocks ${height + 1} to ${Number(from) - 1} of ${network} is not looked for`);
  print(`${network} is read again from block ${from} on: "chains status" shows when it is complete`);
  return 0;
};
