import { connectEventStore, readStoreIdentity } from '@cpg/event-sourcing';
import { createPool, stampSchemas, stampsOf } from '@cpg/platform/postgres';
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
import { identifyStore } from '../service/own-store.ts';

const USAGE = `  environment show   prints to which environment each schema and the event store belong
  environment stamp  stamps those without a stamp with ENVIRONMENT; an existing stamp never changes`;

const Config = ServiceConfig.pick({ ENVIRONMENT: true, DATABASE_URL: true }).extend(EventStoreConfig.shape);

/** Runs an operator's command on the stamps of the stores. Resolves to the exit code. */
export const runEnvironmentCommand = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> => {
  try {
    const [verb, ...rest] = args;
    if ((verb !== 'show' && verb !== 'stamp') || rest.length > 0) throw new ConfigError(USAGE);
    await writeLine((await describeStamps(readConfig(Config, env), verb === 'stamp')).join('\n'));
    return 0;
  } catch (error) {
    const expected = error instanceof ConfigError || error instanceof FatalStartError;
    writeFailure(error, expected);
    return 2;
  }
};

const describeStamps = async (
  {
    ENVIRONMENT,
    DATABASE_URL,
    EVENTSTORE_URL,
  }: Pick<ReturnType<typeof Config.parse>, 'ENVIRONMENT' | 'DATABASE_URL' | 'EVENTSTORE_URL'>,
  stamp: boolean,
): Promise<string[]> => {
  const client = connectEventStore(EVENTSTORE_URL);
  const log = createLogger({ name: 'admin', level: 'warn' });
  const pool = createPool({ url: DATABASE_URL, name: 'admin', max: 1, log });
  try {
    if (stamp) await stampSchemas(pool, ENVIRONMENT);
    const known = await readStoreIdentity(client);
    const identity = known ?? (stamp ? await identifyStore({ client, environment: ENVIRONMENT, name: 'admin' }) : null);
    return [
      ...(await stampsOf(pool)).map(({ schema, environment }) => `schema ${schema}: ${environment}`),
      `event store: ${identity ? `${identity.environment} (${identity.storeId})` : 'no stamp'}`,
    ];
  } finally {
    await pool.end();
    await client.dispose();
  }
};
