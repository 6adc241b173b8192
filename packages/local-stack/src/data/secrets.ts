import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LaunchError } from '../launch-error.ts';
import { postgresFolder } from '../processes/leftovers.ts';
import { inDataFolder, writeJson } from './write.ts';

/** What only this machine knows; the names are those of the variables that the services read. */
export interface Secrets {
  readonly API_KEY_PEPPER: string;
  readonly WEBHOOK_ENCRYPTION_KEY: string;
  readonly INTERNAL_TOKEN: string;
  readonly POSTGRES_PASSWORD: string;
}

/** The secrets of a data folder, made at the first start and kept. Throws LaunchError when they are lost but the data is not. */
export const secretsOf = (folder: string): Secrets =>
  inDataFolder(folder, () => {
    const file = join(folder, 'secrets.json');
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Secrets;
    if (existsSync(postgresFolder(folder))) {
      throw new LaunchError(
        `${file} is gone, without it ${folder} cannot be opened: bring it back, or run "npm run reset"`,
      );
    }
    const made: Secrets = {
      API_KEY_PEPPER: makeSecret(),
      WEBHOOK_ENCRYPTION_KEY: makeSecret(),
      INTERNAL_TOKEN: makeSecret(),
      POSTGRES_PASSWORD: makeSecret(),
    };
    writeJson(file, made, 0o600);
    return made;
  });

const makeSecret = (): string => randomBytes(32).toString('hex');
