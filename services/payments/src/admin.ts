import { AssetsConfig, readAssets } from '@cpg/assets';
import {
  ACCOUNT_STREAM_PREFIX,
  CHAIN_STREAM_PREFIX,
  DEPOSIT_SETTINGS_STREAM,
  PAYMENT_STREAM_PREFIX,
  TOPICS,
} from '@cpg/contracts';
import { type OwnCommandContext, runAdminCommand } from '@cpg/operations';
import { createLogger, readConfig, ServiceConfig, wallClock } from '@cpg/platform';
import { createPool } from '@cpg/platform/postgres';
import { verifyBooks } from './books/compare-streams.ts';
import { runChainsCommand } from './chains/operator/chains-command.ts';
import { executeUnclaimed } from './matching/unclaimed-command.ts';
import { MIGRATIONS } from './migrations.ts';
import { payableProjection } from './payables/payable-projection.ts';
import { paymentProjection } from './read/payment-projection.ts';

const args = process.argv.slice(2);
process.exitCode = await (args[0] === 'chains' ? runChainsCommand(args.slice(1), process.env) : runServiceCommand());

function runServiceCommand(): Promise<number> {
  return runAdminCommand({
    args,
    env: process.env,
    projectionOf: paymentProjection,
    moreProjectionsOf: (client) => [payableProjection(client)],
    ownPrefixes: [PAYMENT_STREAM_PREFIX, ACCOUNT_STREAM_PREFIX, CHAIN_STREAM_PREFIX, DEPOSIT_SETTINGS_STREAM],
    migrations: MIGRATIONS.folder,
    published: { topic: TOPICS.payments.name, objectType: 'payment' },
    commands: { unclaimed: runUnclaimed },
    verifyMore: ({ client, ...options }) => verifyBooks(client, options),
  });
}

async function runUnclaimed(words: readonly string[], { databaseUrl, ...context }: OwnCommandContext): Promise<number> {
  const Config = ServiceConfig.pick({ ENVIRONMENT: true, CAZ_DECIMALS: true }).extend(AssetsConfig.shape);
  const { networks } = readAssets(readConfig(Config, process.env));
  const log = createLogger({ name: 'admin', level: 'warn' });
  const db = createPool({ url: databaseUrl, name: 'admin', max: 1, log });
  const command = { ...context, db, networks, now: wallClock };
  return executeUnclaimed(words, command).finally(() => db.end());
}
