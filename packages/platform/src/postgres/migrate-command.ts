import { ConfigError, readConfig, ServiceConfig } from '../config/config.ts';
import { createLogger } from '../log/logger.ts';
import { FatalStartError } from '../config/fatal-start-error.ts';
import { writeFailure, writeLine } from '../log/write-line.ts';
import { SERVICE_ROLES } from './grants.ts';
import { type Migrations, prepareAsOwner } from './migrate.ts';
import { createPool } from './pool.ts';

const Config = ServiceConfig.pick({ ENVIRONMENT: true, DATABASE_URL: true, CAZ_DECIMALS: true });

/** Runs the operator's command that prepares the schema of a service as its owner. Resolves to the exit code. */
export const runMigrateCommand = async (migrations: Migrations, env: NodeJS.ProcessEnv): Promise<number> => {
  try {
    const { ENVIRONMENT: environment, DATABASE_URL: url } = readConfig(Config, env);
    const pool = createPool({ url, name: 'admin', max: 1, log: createLogger({ name: 'admin', level: 'warn' }) });
    const isGranted = await prepareAsOwner(pool, { ...migrations, environment }).finally(() => pool.end());
    const grants = isGranted ? 'has its grants' : `has no grants: the roles ${SERVICE_ROLES.join(', ')} do not exist`;
    await writeLine(`schema ${migrations.schema} is up to date and ${grants}`);
    return 0;
  } catch (error) {
    writeFailure(error, error instanceof ConfigError || error instanceof FatalStartError);
    return 2;
  }
};
