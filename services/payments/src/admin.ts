import { join } from 'node:path';
import { ACCOUNT_STREAM_PREFIX, DEPOSIT_SETTINGS_STREAM, TOPICS } from '@cpg/contracts';
import { runAdminCommand } from '@cpg/stream-relay';
import { PAYMENT_STREAM_PREFIX } from './payment/identity.ts';
import { payableProjection } from './projections/payable-projection.ts';
import { paymentProjection } from './projections/payment-projection.ts';

process.exitCode = await runAdminCommand({
  args: process.argv.slice(2),
  env: process.env,
  projectionOf: paymentProjection,
  moreProjectionsOf: (client) => [payableProjection(client)],
  ownPrefixes: [PAYMENT_STREAM_PREFIX, ACCOUNT_STREAM_PREFIX, DEPOSIT_SETTINGS_STREAM],
  migrations: join(import.meta.dirname, '../migrations'),
  published: { topic: TOPICS.payments.name, objectType: 'payment' },
});
