import { type ChainVerification, connectEventStore, verifyChains } from '@cpg/event-store';
import { ConfigError, EventStoreConfig, readConfig, ServiceConfig, writeLine } from '@cpg/runtime';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { type BesideOptions, ProjectionFault } from './beside.ts';
import { exportHistory } from './export.ts';
import { type Projection, tableOf } from './projection.ts';
import { rebuild } from './rebuild.ts';
import { type Difference, DIFFERENCES_SHOWN, type Verification, verify } from './verify.ts';

export interface AdminCommandOptions {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly projectionOf: (client: EventStoreDBClient) => Projection;
  /** The folder of the service's migrations. */
  readonly migrations: string;
}

const USAGE = `  projections rebuild  makes the table anew from the event store beside the live one, and swaps them
  projections verify   compares each row with a replay; exit code 1 when there are differences
  audit verify         the same, and that no event was changed or left out
  audit export         writes every event, a line of JSON each`;

const Config = ServiceConfig.pick({ DATABASE_URL: true, CAZ_DECIMALS: true }).extend(EventStoreConfig.shape);

/** Runs a command of an operator or auditor on a service's streams and projection, in a process of its own. Resolves with the exit code: 0,
 *  1 for differences, 2 for what could not be done. It may be ended at any moment: the live table stays whole. */
export const runAdminCommand = async ({ args, env, ...service }: AdminCommandOptions): Promise<number> => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => stopping.abort(new ProjectionFault('stopped: nothing has changed')));
  try {
    const { DATABASE_URL: databaseUrl, EVENTSTORE_URL } = readConfig(Config, env);
    const client = connectEventStore(EVENTSTORE_URL);
    try {
      return await run(args, { client, databaseUrl, signal: stopping.signal, ...service });
    } finally {
      await client.dispose();
    }
  } catch (error) {
    const expected = error instanceof ProjectionFault || error instanceof ConfigError;
    process.stderr.write(`${expected ? error.message : `that failed: ${(error as Error).message || error}`}\n`);
    return 2;
  }
};

interface Running extends Omit<AdminCommandOptions, 'args' | 'env'> {
  readonly client: EventStoreDBClient;
  readonly databaseUrl: string;
  readonly signal: AbortSignal;
}

const run = async (args: readonly string[], { projectionOf, ...running }: Running): Promise<number> => {
  const projection = projectionOf(running.client);
  const name = tableOf(projection);
  const onProgress = (events: number, upTo: Date) => print(`${name}: ${events} events, up to ${upTo.toISOString()}`);
  const options = { ...running, projection, onProgress };
  switch (args.join(' ')) {
    case 'projections rebuild':
      await rebuild(options);
      print(`${name} is rebuilt`);
      return 0;
    case 'projections verify':
      return verifyRows(name, options);
    case 'audit verify': {
      const { prefixes } = projection;
      const chains = await verifyChains(options.client, { prefixes, signal: options.signal });
      chainReport(prefixes, chains).forEach(print);
      return Math.max(chains.faults === 0 ? 0 : 1, await verifyRows(name, options));
    }
    case 'audit export':
      await exportHistory({
        ...options,
        prefixes: projection.prefixes,
        write: (entry) => writeLine(JSON.stringify(entry)),
      });
      return 0;
    default:
      throw new ProjectionFault(USAGE);
  }
};

const verifyRows = async (name: string, options: BesideOptions): Promise<number> => {
  const verification = await verify(options);
  report(name, verification).forEach(print);
  return verification.differ === 0 ? 0 : 1;
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const chainReport = (prefixes: readonly string[], { events, faults, shown }: ChainVerification): string[] => {
  const streams = `streams ${prefixes.map((prefix) => `${prefix}*`).join(', ')}`;
  if (faults === 0) return [`${streams}: ${events} events, each follows the one before it, unchanged`];
  const more = faults > shown.length ? [`and ${faults - shown.length} more`] : [];
  return [
    ...shown.map(({ stream, revision, fault }) => `${stream}, event ${revision}: ${fault}`),
    ...more,
    `${streams}: ${faults} of ${events} events are not as they were recorded`,
  ];
};

const report = (name: string, { rows, differ, differences }: Verification): string[] => {
  if (differ === 0) return [`${name}: ${rows} rows, all as the event store has them`];
  const more = differ > DIFFERENCES_SHOWN ? [`and ${differ - DIFFERENCES_SHOWN} more`] : [];
  return [
    ...differences.flatMap(described),
    ...more,
    `${name}: ${differ} of ${rows} rows differ: "projections rebuild" makes them right`,
  ];
};

const described = ({ id, live, replayed }: Difference): string[] => {
  if (!live) return [`${id}: is missing`];
  if (!replayed) return [`${id}: is not in the event store`];
  const columns = Object.keys(replayed).filter((column) => text(live[column]) !== text(replayed[column]));
  return columns.map(
    (column) => `${id}: ${column} is ${text(live[column])}, the event store says ${text(replayed[column])}`,
  );
};

const text = (value: unknown): string => JSON.stringify(value) ?? 'absent';
