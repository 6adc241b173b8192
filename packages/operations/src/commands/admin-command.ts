import { isAppError, isTemporary, type RecordedEntry, scalesOf } from '@cpg/contracts';
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
import {
  ConfigError,
  createLogger,
  EventStoreConfig,
  FatalStartError,
  readConfig,
  ServiceConfig,
  writeFailure,
  writeLine,
} from '@cpg/platform';
import { createPool, stampsOf } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { rebuild } from '../read-models/rebuild.ts';
import { ProjectionError, type ShadowTableOptions } from '../read-models/shadow-tables.ts';
import { rowReport, verify } from '../read-models/verify.ts';
import type { Published } from '../reconcile/reconcile.ts';
import { requireRecordedScales } from '../service/currency-scales.ts';
import { runAuditVerify, type VerifyMore } from './audit-verify.ts';
import { runStoreCommand } from './store-command.ts';

interface AdminCommandOptions {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly projectionOf: (client: EventStoreDBClient) => Projection;
  /** Further read models of the service. */
  readonly moreProjectionsOf?: (client: EventStoreDBClient) => Projection[];
  /** Prefixes of the streams that the service writes. Those of the first projection by default. */
  readonly ownPrefixes?: readonly string[];
  /** Folder of the service's migrations. */
  readonly migrations: string;
  readonly published: Published;
  /** Further commands of the service, by their first word; each gets the words after it. They throw AppError to
   *  refuse. */
  readonly commands?: Readonly<
    Record<string, (args: readonly string[], context: OwnCommandContext) => Promise<number>>
  >;
  /** A further check of `audit verify`. */
  readonly verifyMore?: VerifyMore;
}

export interface OwnCommandContext {
  readonly client: EventStoreDBClient;
  readonly databaseUrl: string;
  readonly print: (line: string) => void;
}

const USAGE = `  projections rebuild  builds the read model again from the event store, and replaces the live tables
  projections verify   compares each row with a replay of the event store; exit code 1 when rows differ
  projections parked   prints the streams that wait because an event cannot be handled; exit code 1 when there are any
  audit verify         also checks the hash chain of every stream, and orders against payments; exit code 1 for a fault.
                       --since FILE: of the streams that changed since FILE was written; it writes FILE if all is well
  audit export         prints every event as one line of JSON
  store reconcile      shows what has no event in the event store; --apply makes the service follow this store
  store republish      publishes again what was recorded since a time`;

const Config = ServiceConfig.pick({ DATABASE_URL: true, CAZ_DECIMALS: true }).extend(EventStoreConfig.shape);

/** Runs an operator's or auditor's command on the streams and the projection of a service, in a separate process.
 *  Resolves to the exit code: 0, 1 for differences, 2 for a failure. It is safe to stop at any moment: the live tables
 *  stay complete. */
export const runAdminCommand = async ({ args, env, ...service }: AdminCommandOptions): Promise<number> => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => stopping.abort(new ProjectionError('stopped: nothing was changed')));
  try {
    const { DATABASE_URL: databaseUrl, EVENTSTORE_URL, CAZ_DECIMALS } = readConfig(Config, env);
    const client = connectEventStore(EVENTSTORE_URL);
    try {
      await requireSameEnvironment(client, databaseUrl);
      await requireRecordedScales(client, scalesOf({ CAZ_DECIMALS }));
      return await run(args, { client, databaseUrl, signal: stopping.signal, env, ...service });
    } catch (error) {
      if (isExpected(error)) throw error;
      throw (await explainEventStore(client, EVENTSTORE_URL)) ?? error;
    } finally {
      await client.dispose();
    }
  } catch (error) {
    writeFailure(error, isExpected(error));
    return 2;
  }
};

const isExpected = (error: unknown): error is Error =>
  error instanceof ProjectionError ||
  error instanceof UnknownStoreError ||
  error instanceof ConfigError ||
  error instanceof FatalStartError ||
  (isAppError(error) && !isTemporary(error));

/** Throws ProjectionError when event store and database belong to different environments: a rebuild would mix them. */
const requireSameEnvironment = async (client: EventStoreDBClient, databaseUrl: string): Promise<void> => {
  const identity = await readStoreIdentity(client);
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

interface CommandContext extends Omit<AdminCommandOptions, 'args'> {
  readonly client: EventStoreDBClient;
  readonly databaseUrl: string;
  readonly signal: AbortSignal;
}

const run = async (
  args: readonly string[],
  { projectionOf, moreProjectionsOf = () => [], commands = {}, ...context }: CommandContext,
): Promise<number> => {
  const { client, databaseUrl, signal } = context;
  const [noun = '', ...words] = args;
  if (Object.hasOwn(commands, noun)) return commands[noun]!(words, { client, databaseUrl, print });
  const projection = projectionOf(client);
  const moreProjections = moreProjectionsOf(client);
  const { ownPrefixes: prefixes = projection.prefixes } = context;
  const each = [projection, ...moreProjections].map((one) => optionsOf(context, one));
  if (args[0] === 'store') return runStoreCommand(args.slice(1), { ...context, ...each[0]!, moreProjections, print });
  if (noun === 'audit' && words[0] === 'verify') {
    const service = projection.schema;
    return runAuditVerify(words.slice(1), { ...context, service, prefixes, verifyRows: () => verifyRows(each), print });
  }
  switch (args.join(' ')) {
    case 'projections rebuild':
      for (const options of each) {
        const tables = tablesOf(options.projection);
        await rebuild(options);
        print(`${tables.join(', ')} ${tables.length > 1 ? 'were' : 'was'} rebuilt`);
      }
      return 0;
    case 'projections verify':
      return (await verifyRows(each)) === 0 ? 0 : 1;
    case 'projections parked':
      return printParked(context.databaseUrl, projection.schema);
    case 'audit export':
      await exportHistory({ client, prefixes, signal, write: (entry) => writeLine(JSON.stringify(entry)) });
      return 0;
    default:
      throw new ProjectionError(USAGE);
  }
};

const optionsOf = (
  context: Omit<CommandContext, 'projectionOf' | 'commands'>,
  projection: Projection,
): ShadowTableOptions => ({
  ...context,
  projection,
  onProgress: (events, upTo) => print(`${nameOf(projection)}: ${events} events, up to ${upTo.toISOString()}`),
  onUnreadable: ({ message }) => print(message),
});

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
