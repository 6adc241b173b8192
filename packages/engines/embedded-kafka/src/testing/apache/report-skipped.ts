import { appendFileSync } from 'node:fs';
import { NoApacheKafka } from './jars.ts';

/** Reports that `tests` are skipped, now and in the summary of `npm test`. Throws any error but NoApacheKafka again. */
export const reportSkipped = (tests: string, error: unknown): void => {
  if (!(error instanceof NoApacheKafka)) throw error;
  const reason = `${tests} are skipped: ${error.message}`;
  process.stderr.write(`${reason}\n`);
  if (process.env.SKIPPED_BECAUSE) appendFileSync(process.env.SKIPPED_BECAUSE, `${reason}\n`);
};
