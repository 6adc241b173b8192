import { join } from 'node:path';
import { ACCOUNT_STREAM_PREFIX, CHAIN_STREAM_PREFIX, DEPOSIT_SETTINGS_STREAM, TOPICS } from '@cpg/contracts';
import { runAdminCommand } from '@cpg/stream-relay';
import { runChainsCommand } from './chains/chains-command.ts';
import { PAYMENT_STREAM_PREFIX } from './payment/identity.ts';
import { payableProjection } from './projections/payable-projection.ts';
import { paymentProjection } from './projections/payment-projection.ts';

const args = process.argv.slice(2);
process.exitCode = await (args[0] === 'chains' ? runChainsCommand(args.slice(1), process.env) : runServiceCommand());

function runServiceCommand(): Promise<number> {
  return runAdminCommand({
    args,
    env: process.env,
    projectionOf: paymentProjection,
    moreProjectionsOf: (client) => [payableProjection(client)],
    ownPrefixes: [PAYMENT_STREAM_PREFIX, ACCOUNT_STREAM_PREFIX, CHAIN_STREAM_PREFIX, DEPOSIT_SETTINGS_STREAM],
    migrations: join(import.meta.dirname, '../migrations'),
    published: { topic: TOPICS.payments.name, objectType: 'payment' },
  });
}
