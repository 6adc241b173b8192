import type { Asset } from '@cpg/assets';
import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import type { Queryable } from '@cpg/platform/postgres';
import { type AddressDetails, addressDetails, watchForGood } from '../../payables/deposit-addresses.ts';
import { receivingPath } from '../../payables/payable.ts';
import { type ChainStatus, chainStatuses, requestNewChain, tipSeenAt } from '../chain-status.ts';
import { readRescans, requestRescan, type Rescan } from '../reading/rescan.ts';
import { type Balances, balances } from './balances.ts';
import { failingReports, retryReports } from './failing-reports.ts';

const HALT_ADVICE =
  'Compare block and chain id with an explorer. If a node is wrong, repair it, or take it out of CHAIN_URLS and ' +
  'restart: reading goes on by itself, and nothing is lost. Only if the chain itself changed: rescan with --apply from below the fork';

export interface ChainsCommand {
  readonly db: Queryable;
  readonly assets: readonly Asset[];
  readonly networks: readonly string[];
  readonly print: (line: string) => void;
  /** Prints what is no part of the answer. */
  readonly warn: (line: string) => void;
}

/** Adds the commands on the chains that are read for deposits. */
export const addChainsCommands = (program: AdminCommand, withCommand: RunWith<ChainsCommand>): void => {
  const chains = program.command('chains').description('the chains that are read for deposits');
  chains
    .command('status')
    .description('show how far each chain was read; exit code 1 if one halted or stalled')
    .examples('chains status')
    .runs(() =>
      withCommand(async ({ db, print }) => printStatus(await chainStatuses(db), await readRescans(db), print)),
    );
  chains
    .command('rescan')
    .description('show what differs on a network from a block on')
    .argument('<network>', 'the network, such as ethereum')
    .requiredOption('--from <height>', 'the first block')
    .option('--apply', 'apply what differs. Of a halted chain: accept what the nodes show now, and end the halt')
    .examples('chains rescan ethereum --from 21000000', 'chains rescan ethereum --from 21000000 --apply')
    .runs((network: string, { from, apply = false }: { from: string; apply?: boolean }) =>
      withCommand((command) => rescan(network, { from, apply }, command)),
    );
  chains
    .command('archive')
    .description('show the orders that show an address, and whether it has retired')
    .argument('<address>', 'spelled as the order shows it')
    .option('--watch', 'look for money there again, for good')
    .examples('chains archive tb1q…', 'chains archive tb1q… --watch')
    .runs((address: string, { watch = false }: { watch?: boolean }) =>
      withCommand(async ({ db, print }) => (await archivedAddress(db, address, { watch })).forEach(print)),
    );
  chains
    .command('balances')
    .description('print what assigned addresses received, with derivation paths, as CSV; exit code 1 without an asset')
    .option('--all', 'addresses that received nothing, too')
    .examples('chains balances > balances.csv')
    .runs(({ all = false }: { all?: boolean }) =>
      withCommand(async (command) => printBalances(await balances(command.db, command.assets, { all }), command)),
    );
  chains
    .command('reports')
    .description('print the deposits that cannot be recorded as payments, as CSV; exit code 1 if there are any')
    .option('--retry <id>', 'record the deposit of this transfer or payment again, or of "all"')
    .examples('chains reports', 'chains reports --retry all')
    .runs(({ retry: id }: { retry?: string }) =>
      withCommand((command) => (id === undefined ? printReports(command) : retry(id, command))),
    );
};

const printReports = async ({ db, assets, print }: ChainsCommand): Promise<number> => {
  const [header, ...lines] = await failingReports(db, assets);
  for (const line of [header!, ...lines]) print(line);
  return lines.length > 0 ? 1 : 0;
};

const retry = async (wanted: string, { db, print }: ChainsCommand): Promise<number> => {
  const transfers = await retryReports(db, wanted);
  for (const transfer of transfers) print(`${transfer} is reported again within seconds, if its chain is read`);
  if (transfers.length > 0) return 0;
  if (wanted !== 'all') throw new CommandError(`no report of ${wanted} fails: "chains reports" shows the ones that do`);
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

const printStatus = (
  statuses: readonly ChainStatus[],
  rescans: ReadonlyMap<string, Rescan>,
  print: (line: string) => void,
): number => {
  for (const status of statuses) {
    const { network, height, hash, tip, readAt, halted, stalled, waiting, nodes, rescanFrom, open } = status;
    const seenAt = tipSeenAt(status);
    const seen = seenAt ? `, as seen at ${seenAt.toISOString()}` : '';
    const read =
      height === null ? 'nothing was read' : `read up to block ${height} (${hash}) of ${tip ?? 'unknown'}${seen}`;
    const when = readAt ? `, complete at ${readAt.toISOString()}` : '';
    print(`${network}: ${read}${when}, ${open} transfers may still change`);
    for (const { number, height: newest, time, seenAt: at, isUsed } of nodes)
      print(
        `${network}: node ${number} showed block ${newest} of ${time.toISOString()} at ${at.toISOString()}${isUsed ? '' : ', not used'}`,
      );
    if (halted !== null) print(`${network}: HALTED: ${halted}. ${HALT_ADVICE}`);
    if (stalled !== null) print(`${network}: STALLED: ${stalled}`);
    if (waiting !== null) print(`${network}: reading waits: ${waiting}`);
    if (rescanFrom !== null) print(`${network}: the chain is accepted from block ${rescanFrom} on, within 30 seconds`);
    const rescan = rescans.get(network);
    if (rescan) printRescan(network, rescan, print);
  }
  if (statuses.length === 0) print('no chain was read: set CHAIN_URLS');
  return statuses.some(({ halted, stalled }) => halted !== null || stalled !== null) ? 1 : 0;
};

const rescan = async (
  network: string,
  { from: text, apply }: { readonly from: string; readonly apply: boolean },
  command: ChainsCommand,
): Promise<number> => {
  const { db, networks, print } = command;
  if (!/^\d{1,12}$/.test(text))
    throw new CommandError(`--from: ${text} is not the height of a block: give a whole number`);
  if (!networks.includes(network))
    throw new CommandError(`there is no network ${network}: it is one of ${networks.join(', ')}`);
  const from = Number(text);
  const status = (await chainStatuses(db)).find((each) => each.network === network);
  if (status && status.halted !== null) return acceptChain(status, { from, apply }, command);
  if (status && status.height !== null && from > status.height)
    throw new CommandError(`block ${from} of ${network} was not read yet: reading is at block ${status.height}`);
  await requestRescan(db, network, { from, apply });
  const effect = apply ? 'what differs is applied' : 'nothing is changed';
  print(
    `${network} is read again from block ${from} on, beside the reading; ${effect}: "chains status" shows the result`,
  );
  return 0;
};

/** Nothing is read meanwhile, so the reading itself goes back to the height. */
const acceptChain = async (
  { network, halted }: ChainStatus,
  { from, apply }: { readonly from: number; readonly apply: boolean },
  { db, print }: ChainsCommand,
): Promise<number> => {
  if (!apply) {
    const { rows } = await db.query<{ count: string }>(
      'select count(*) from payments.chain_transfers where network = $1 and height >= $2',
      [network, from],
    );
    print(`${network}: HALTED: ${halted}. ${HALT_ADVICE}`);
    print(
      `with --apply, the chain that the nodes show now is accepted from block ${from} on: ${rows[0]!.count} transfers ` +
        'are looked for again, and payments that it does not contain fail',
    );
    return 0;
  }
  await requestNewChain(db, network, from);
  print(`${network} is read again from block ${from} on: "chains status" shows when it is complete`);
  return 0;
};

const printRescan = (network: string, rescan: Rescan, print: (line: string) => void): void => {
  const { from, to, next, apply, findings, found, finishedAt } = rescan;
  const mode = apply ? 'applies what differs' : 'changes nothing';
  const where = finishedAt ? `complete at ${finishedAt.toISOString()}` : `at block ${next} of ${to ?? 'unknown'}`;
  print(`${network}: rescan from block ${from}, which ${mode}: ${where}, ${found} transfers differ`);
  for (const { kind, transfer, block } of findings)
    print(
      `${network}: ${kind} in block ${block.height}: ${transfer.units} units to ${transfer.address} (${transfer.id})`,
    );
};

/** Lines about the orders that show an address. With `watch`, money there is looked for again, for good: also where the
 *  address has retired. */
const archivedAddress = async (
  db: Queryable,
  address: string,
  { watch }: { readonly watch: boolean },
): Promise<string[]> => {
  if (watch) await watchForGood(db, address);
  const found = await addressDetails(db, address);
  if (found.length === 0) return [`no order shows ${address}, spelled like this`];
  const isWatched = found.some((each) => each.isWatched);
  const state = isWatched ? 'money there is looked for' : 'it has retired: money there is not looked for';
  return [...found.map(addressLine), watch ? 'money there is looked for from now on: rescan the blocks before' : state];
};

const addressLine = ({ orderId, merchantId, network, account, index, endedAt }: AddressDetails): string => {
  const path = index === null ? 'an unknown path' : `path ${receivingPath(index)}`;
  const end = endedAt ? `ended at ${endedAt.toISOString()}` : 'not ended, as far as is known';
  return `order ${orderId} of ${merchantId ?? 'an unknown merchant'} on ${network}: account ${account}, ${path}, ${end}`;
};
