import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { InactiveKeyError, ensureSandboxMerchant } from '@cpg/gateway/sandbox.js';
import { isTransientDatabaseError } from '@cpg/postgres';
import { readSandbox } from './data/sandbox.ts';
import { LaunchError } from './launch-error.ts';

const DATABASE_WITHIN_MS = 30_000;
const KEY_LETTERS = 64;

/** Makes the demo merchant and its key unless they are there: the key that was asked for, else that of the last start while it is
 *  good, else a new one. Waits for the database a while, then throws LaunchError. */
export const demoMerchant = async (
  dataDir: string,
  { databaseUrl, pepper, apiKey: wanted }: { databaseUrl: string; pepper: string; apiKey: string | undefined },
): Promise<{ merchantId: string; apiKey: string }> => {
  let apiKey = wanted ?? readSandbox(dataDir)?.api_key ?? newKey();
  for (const end = Date.now() + DATABASE_WITHIN_MS; ; await sleep(250)) {
    try {
      const { merchantId } = await ensureSandboxMerchant({ databaseUrl, pepper, apiKey });
      return { merchantId, apiKey };
    } catch (cause) {
      if (isTransientDatabaseError(cause) && Date.now() < end) continue;
      if (cause instanceof InactiveKeyError && !wanted) {
        apiKey = newKey();
        continue;
      }
      const { message, code } = cause as NodeJS.ErrnoException;
      throw new LaunchError(`the demo merchant could not be made: ${message || code}`, { cause });
    }
  }
};

const newKey = (): string => {
  const letters = randomBytes(2 * KEY_LETTERS)
    .toString('base64')
    .replace(/[^A-Za-z0-9]/g, '');
  return `ak_sandbox_${letters.slice(0, KEY_LETTERS)}`;
};
