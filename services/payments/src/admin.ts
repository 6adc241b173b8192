import { join } from 'node:path';
import { runProjectionCommand } from '@cpg/stream-relay';
import { paymentProjection } from './projections/payment-projection.ts';

process.exitCode = await runProjectionCommand({
  args: process.argv.slice(2),
  env: process.env,
  projectionOf: paymentProjection,
  migrations: join(import.meta.dirname, '../migrations'),
});
