import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureSandboxMerchant, InactiveKeyError } from '@cpg/gateway/sandbox.js';
import { isTransientDatabaseError } from '@cpg/platform/postgres';
import { z } from 'zod';
import { LaunchError } from './config.ts';
import { writeJson } from './data/write-file.ts';

const DATABASE_TIMEOUT_MS = 30_000;
const KEY_LENGTH = 64;

/** Creates the demo merchant and its API key if they do not exist. Uses `apiKey`, else the key of the last start if it
 *  is still valid, else a new key. Retries for 30 s while the database is unavailable, then throws LaunchError. */
export const ensureDemoMerchant = async (
  dataDir: string,
  { databaseUrl, pepper, apiKey: requestedKey }: { databaseUrl: string; pepper: string; apiKey: string | undefined },
): Promise<{ merchantId: string; apiKey: string; signInPath: string }> => {
  let apiKey = requestedKey ?? readSandbox(dataDir)?.api_key ?? newKey();
  for (const end = performance.now() + DATABASE_TIMEOUT_MS; ; await sleep(250)) {
    try {
      const { merchantId, signInPath } = await ensureSandboxMerchant({ databaseUrl, pepper, apiKey });
      return { merchantId, apiKey, signInPath };
    } catch (cause) {
      if (isTransientDatabaseError(cause) && performance.now() < end) continue;
      if (cause instanceof InactiveKeyError && !requestedKey) {
        apiKey = newKey();
        continue;
      }
      const { message, code } = cause as NodeJS.ErrnoException;
      throw new LaunchError(`the demo merchant could not be created: ${message || code}`, { cause });
    }
  }
};

const newKey = (): string => {
  const characters = randomBytes(2 * KEY_LENGTH)
    .toString('base64')
    .replace(/[^A-Za-z0-9]/g, '');
  return `ak_sandbox_${characters.slice(0, KEY_LENGTH)}`;
};

/** Base URL and API key of the demo merchant. */
const Sandbox = z.object({ base_url: z.string(), merchant_id: z.string(), api_key: z.string() });
export type Sandbox = z.infer<typeof Sandbox>;

const FILE = 'sandbox.json';

/** Reads the file of an earlier start, or returns null. */
const readSandbox = (folder: string): Sandbox | null => {
  const file = join(folder, FILE);
  return existsSync(file) ? Sandbox.parse(JSON.parse(readFileSync(file, 'utf8'))) : null;
};

export const writeSandbox = (folder: string, sandbox: Sandbox): void => writeJson(join(folder, FILE), sandbox, 0o600);
