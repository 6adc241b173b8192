import { join } from 'node:path';
import { TOPICS } from '@cpg/contracts';
import { runAdminCommand } from '@cpg/stream-relay';
import { paymentProjection } from './projections/payment-projection.ts';

process.exitCode = await runAdminCommand({
  args: process.argv.slice(2),
  env: process.env,
  projectionOf: paymentProjection,
  migrations: join(import.meta.dirname, '../migrations'),
  published: { topic: TOPICS.payments.name, objectType: 'payment' },
});
