import { connectEventStore, readStoreIdentity } from '@cpg/event-sourcing';
import { createPool, stampSchemas, stampsOf } from '@cpg/platform/postgres';
import { createLogger, EventStoreConfig, readConfig, ServiceConfig } from '@cpg/platform';
import type { AdminCommand } from '@cpg/platform/commands';
import { identifyStore } from '../service/own-store.ts';

const Config = ServiceConfig.pick({ ENVIRONMENT: true, DATABASE_URL: true }).extend(EventStoreConfig.shape);

/** Adds the commands on the stamps of the stores. */
export const addEnvironmentCommands = (program: AdminCommand, env: NodeJS.ProcessEnv): void => {
  const environment = program
    .command('environment')
    .description('the environment to which data belongs; a service of another one does not start on it');
  const run = async (stamp: boolean) => (await describeStamps(readConfig(Config, env), stamp)).join('\n');
  environment
    .command('show')
    .description('print to which environment each schema and the event store belong')
    .examples('environment show')
    .runs(() => run(false));
  environment
    .command('stamp')
    .description('stamp those without a stamp with ENVIRONMENT; an existing stamp never changes')
    .examples('environment stamp')
    .runs(() => run(true));
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
