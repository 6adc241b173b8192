import { type RecordedEntry, scalesOf } from '@cpg/contracts';
import {
  AnyEvent,
  connectEventStore,
  eventsOf,
  explainEventStore,
  historyEntry,
  listParkedStreams,
  nameOf,
  type Projection,
  readLog,
  readStoreIdentity,
  tablesOf,
  UnknownStoreError,
} from '@cpg/event-sourcing';
import { createLogger, EventStoreConfig, readConfig, ServiceConfig, writeLine } from '@cpg/platform';
import {
  type AdminCommand,
  adminProgram,
  Argument,
  isExpectedFailure,
  type Outcome,
  runAdminProgram,
} from '@cpg/platform/commands';
import { createPool, stampsOf } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { rebuild } from '../read-models/rebuild.ts';
import { ProjectionError, type ShadowTableOptions } from '../read-models/shadow-tables.ts';
import { rowReport, verify } from '../read-models/verify.ts';
import type { Published } from '../reconcile/reconcile.ts';
import { requireRecordedScales } from '../service/currency-scales.ts';
import { runAuditVerify, type VerifyMore } from './audit-verify.ts';
import { addStoreCommands } from './store-command.ts';

export interface ServiceCommandsOptions {
  readonly service: 'orders' | 'payments';
  readonly env: NodeJS.ProcessEnv;
  readonly projectionOf: (client: EventStoreDBClient) => Projection;
  /** Further read models of the service. */
  readonly moreProjectionsOf?: (client: EventStoreDBClient) => Projection[];
  /** Prefixes of the streams that the service writes. Those of the first projection by default. */
  readonly ownPrefixes?: readonly string[];
  /** Folder of the service's migrations. */
  readonly migrations: string;
  readonly published: Published;
  /** A further check of `audit verify`. */
  readonly verifyMore?: VerifyMore;
}

/** The commands of operators and auditors on the streams and the projections of a service. They run in a separate
 *  process, and are safe to stop at any moment: the live tables stay complete. */
export const serviceCommands = ({
  service,
  env,
  projectionOf,
  moreProjectionsOf = () => [],
  ...options
}: ServiceCommandsOptions): AdminCommand => {
  const program = adminProgram(`Commands of operators and auditors on the events of ${service}.`);
  const withReadModels = (work: (readModels: ReadModels) => Promise<Outcome>): Promise<Outcome> =>
    withStores(env, async (stores) => {
      const projection = projectionOf(stores.client);
      const moreProjections = moreProjectionsOf(stores.client);
      const each = [projection, ...moreProjections].map((one) => shadowTablesOf({ ...stores, ...options }, one));
      return work({ ...stores, each, moreProjections, prefixes: options.ownPrefixes ?? projection.prefixes });
    });
  // The launcher runs the command of the named service, or of every one. Here the name is only checked.
  const ofService = () =>
    new Argument(
      '[service]',
      'limit the command to the data of this service; by default it runs for every service',
    ).choices([service]);

  const projections = program.command('projections').description('read models, which are built from the event store');
  projections
    .command('rebuild')
    .description('build the tables again from the event store, then replace the live ones, without downtime')
    .addArgument(ofService())
    .examples('projections rebuild', `projections rebuild ${service}`)
    .runs(() => withReadModels(rebuildEach));
  projections
    .command('verify')
    .description('compare each row with a replay of the event store; exit code 1 if rows differ')
    .addArgument(ofService())
    .examples('projections verify')
    .runs(() => withReadModels(async ({ each }) => ((await verifyRows(each)) === 0 ? 0 : 1)));
  projections
    .command('parked')
    .description('list the streams that wait because an event cannot be handled; exit code 1 if there are any')
    .addArgument(ofService())
    .examples('projections parked')
    .runs(() => withReadModels(({ databaseUrl, each }) => printParked(databaseUrl, each[0]!.projection.schema)));

  const audit = program.command('audit').description('for auditors, read from the event store');
  audit
    .command('verify')
    .description('check hash chains, orders against payments, and rows; exit code 1 for a fault')
    .addArgument(ofService())
    .option(
      '--since <file>',
      'only streams that changed since <file> was written, all if there is none; writes <file> if all is well',
    )
    .examples('audit verify', 'audit verify --since "$PWD/verified.json"')
    .runs((_: string | undefined, { since: file }: { since?: string }) =>
      withReadModels(({ each, ...readModels }) =>
        runAuditVerify({
          ...readModels,
          file,
          service: each[0]!.projection.schema,
          verifyMore: options.verifyMore,
          verifyRows: () => verifyRows(each),
          print,
        }),
      ),
    );
  audit
    .command('export')
    .description('print every event as a line of JSON, stream by stream, without deleted orders')
    .addArgument(ofService())
    .examples('audit export > events.ndjson')
    .runs(() =>
      withReadModels((readModels) =>
        exportHistory({ ...readModels, write: (entry) => writeLine(JSON.stringify(entry)) }),
      ),
    );
  addStoreCommands(program, (work) =>
    withReadModels(({ each, ...readModels }) =>
      work({ ...readModels, ...each[0]!, published: options.published, env, print }),
    ),
  );
  return program;
};

/** Runs a command of a service. Resolves to the exit code: 0, 1 for differences, 2 for a failure, 64 for a mistake. */
export const runServiceCommands = (program: AdminCommand, args: readonly string[]): Promise<number> =>
  runAdminProgram(program, args, isExpected);

export interface AdminStores {
  readonly client: EventStoreDBClient;
  readonly databaseUrl: string;
  /** Aborts when the process is asked to stop. */
  readonly signal: AbortSignal;
}

const Config = ServiceConfig.pick({ DATABASE_URL: true, CAZ_DECIMALS: true }).extend(EventStoreConfig.shape);

/** Connects to the event store, checks that it and the database belong to the same environment, runs `work` and
 *  disconnects. Throws ProjectionError or UnknownStoreError for what an operator can correct. */
export const withStores = async <T>(env: NodeJS.ProcessEnv, work: (stores: AdminStores) => Promise<T>): Promise<T> => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => stopping.abort(new ProjectionError('stopped: nothing was changed')));
  const { DATABASE_URL: databaseUrl, EVENTSTORE_URL, CAZ_DECIMALS } = readConfig(Config, env);
  const client = connectEventStore(EVENTSTORE_URL);
  try {
    await requireSameEnvironment(client, databaseUrl);
    // With other decimals of CAZ than the recorded ones, all its amounts would be misread.
    await requireRecordedScales(client, scalesOf({ CAZ_DECIMALS }));
    return await work({ client, databaseUrl, signal: stopping.signal });
  } catch (error) {
    if (isExpected(error)) throw error;
    throw (await explainEventStore(client, EVENTSTORE_URL)) ?? error;
  } finally {
    await client.dispose();
  }
};

const isExpected = (error: unknown): boolean =>
  error instanceof ProjectionError || error instanceof UnknownStoreError || isExpectedFailure(error);

/** Throws ProjectionError when event store and database belong to different environments: a rebuild would mix them. */
const requireSameEnvironment = async (client: EventStoreDBClient, databaseUrl: string): Promise<void> => {
  const identity = await readStoreIdentity(client);
  // A new event store has no identity yet.
  if (!identity) return;
  const log = createLogger({ name: 'admin', level: 'warn' });
  const pool = createPool({ url: databaseUrl, name: 'admin', max: 1, log });
  const stamps = await stampsOf(pool).finally(() => pool.end());
  const other = stamps.find(({ environment }) => environment !== identity.environment);
  if (!other) return;
  throw new ProjectionError(
    `the event store belongs to ${identity.environment}, but schema ${other.schema} of the database belongs to ${other.environment}: correct EVENTSTORE_URL or DATABASE_URL`,
  );
};

interface ReadModels extends AdminStores {
  readonly each: readonly ShadowTableOptions[];
  readonly moreProjections: readonly Projection[];
  readonly prefixes: readonly string[];
}

const shadowTablesOf = (
  stores: AdminStores & Pick<ServiceCommandsOptions, 'migrations'>,
  projection: Projection,
): ShadowTableOptions => ({
  ...stores,
  projection,
  onProgress: (events, upTo) => print(`${nameOf(projection)}: ${events} events, up to ${upTo.toISOString()}`),
  onUnreadable: ({ message }) => print(message),
});

const rebuildEach = async ({ each }: ReadModels): Promise<void> => {
  for (const options of each) {
    const tables = tablesOf(options.projection);
    await rebuild(options);
    print(`${tables.join(', ')} ${tables.length > 1 ? 'were' : 'was'} rebuilt`);
  }
};

/** Resolves to how many rows differ. */
const verifyRows = async (each: readonly ShadowTableOptions[]): Promise<number> => {
  let differ = 0;
  for (const options of each) {
    const verification = await verify(options);
    rowReport(tablesOf(options.projection), verification).forEach(print);
    differ += verification.differ;
  }
  return differ;
};

const printParked = async (url: string, schema: string): Promise<number> => {
  const pool = createPool({ url, name: 'admin', max: 1, log: createLogger({ name: 'admin', level: 'silent' }) });
  try {
    const parked = await listParkedStreams(pool, schema);
    for (const { subscription, stream, revision, type, reason, parkedAt } of parked)
      print(`${schema}.${subscription}: ${stream} waits at event ${revision} (${type}) since ${parkedAt}: ${reason}`);
    if (parked.length === 0) print(`${schema}: no stream is parked`);
    return parked.length === 0 ? 0 : 1;
  } finally {
    await pool.end();
  }
};

const print = (line: string): void => void writeLine(line);

interface ExportOptions {
  readonly client: EventStoreDBClient;
  readonly prefixes: readonly string[];
  /** Resolves when it can accept the next entry (backpressure). */
  readonly write: (entry: RecordedEntry) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Writes every recorded event, one stream after another in order of their first events. Skips deleted streams. */
const exportHistory = async ({ client, prefixes, write, signal }: ExportOptions): Promise<void> => {
  await readLog(client, {
    from: null,
    prefixes,
    signal,
    handle: async (events) => {
      const started = events.filter(({ event }) => event!.revision === 0n).map(({ event }) => event!.streamId);
      for (const stream of started) {
        for await (const recorded of eventsOf(client, stream, AnyEvent)) {
          signal.throwIfAborted();
          await write(historyEntry(recorded));
        }
      }
    },
  });
};
