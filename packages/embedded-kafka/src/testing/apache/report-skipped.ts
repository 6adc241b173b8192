import { appendFileSync } from 'node:fs';
import { NoApacheKafka } from './jars.ts';

/** Says why `what` is skipped, now and beside the count at the end of `npm test`. Throws on what is no reason to skip. */
export const reportSkipped = (what: string, error: unknown): void => {
  if (!(error instanceof NoApacheKafka)) throw error;
  const reason = `${what} are skipped: ${error.message}`;
  process.stderr.write(`${reason}\n`);
  if (process.env.SKIPPED_BECAUSE) appendFileSync(process.env.SKIPPED_BECAUSE, `${reason}\n`);
};
