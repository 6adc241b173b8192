import { join } from 'node:path';
import { runProjectionCommand } from '@cpg/stream-relay';
import { orderProjection } from './projections/order-projection.ts';

process.exitCode = await runProjectionCommand({
  args: process.argv.slice(2),
  env: process.env,
  projectionOf: orderProjection,
  migrations: join(import.meta.dirname, '../migrations'),
});
