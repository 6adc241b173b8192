import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSigningKey } from '@cpg/transparency-log';
import { LaunchError } from '../config.ts';
import { postgresFolder } from '../processes/leftover-processes.ts';
import { explainWriteErrors, writeJson } from './write-file.ts';

/** Secrets of this installation, by the names of the variables that the services read. */
export interface Secrets {
  readonly API_KEY_PEPPER: string;
  readonly WEBHOOK_ENCRYPTION_KEY: string;
  /** Signs the checkpoints of the transparency log. */
  readonly AUDIT_LOG_KEY: string;
  /** The tokens of the services are derived from it. */
  readonly INTERNAL_TOKEN: string;
  readonly POSTGRES_PASSWORD: string;
}

/** Loads the secrets of a data folder, or creates them at the first start. Throws LaunchError when the file is missing
 *  but data exists. */
export const loadSecrets = (folder: string): Secrets =>
  explainWriteErrors(folder, () => {
    const file = join(folder, 'secrets.json');
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Secrets;
    if (existsSync(postgresFolder(folder))) {
      throw new LaunchError(
        `${file} is missing, and the data in ${folder} cannot be used without it: restore the file, or delete the data with "npm run reset"`,
      );
    }
    const secrets: Secrets = {
      API_KEY_PEPPER: newSecret(),
      WEBHOOK_ENCRYPTION_KEY: newSecret(),
      AUDIT_LOG_KEY: newSigningKey('localhost'),
      INTERNAL_TOKEN: newSecret(),
      POSTGRES_PASSWORD: newSecret(),
    };
    writeJson(file, secrets, 0o600);
    return secrets;
  });

const newSecret = (): string => randomBytes(32).toString('hex');
