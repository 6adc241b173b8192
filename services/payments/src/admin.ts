import { AssetsConfig, readAssets } from '@cpg/assets';
import {
  ACCOUNT_STREAM_PREFIX,
  CHAIN_STREAM_PREFIX,
  DEPOSIT_SETTINGS_STREAM,
  PAYMENT_STREAM_PREFIX,
  TOPICS,
} from '@cpg/contracts';
import { runServiceCommands, serviceCommands, withStores } from '@cpg/operations';
import { createLogger, readConfig, ServiceConfig, wallClock, writeLine } from '@cpg/platform';
import type { Outcome } from '@cpg/platform/commands';
import { createPool } from '@cpg/platform/postgres';
import { verifyBooks } from './books/compare-streams.ts';
import { addChainsCommands, withChains } from './chains/operator/chains-commands.ts';
import { addUnclaimedCommands, type UnclaimedCommand } from './matching/unclaimed-commands.ts';
import { MIGRATIONS } from './migrations.ts';
import { payableProjection } from './payables/payable-projection.ts';
import { paymentProjection } from './read/payment-projection.ts';

const { env } = process;

const withUnclaimed = (work: (command: UnclaimedCommand) => Promise<Outcome>): Promise<Outcome> =>
  withStores(env, async ({ client, databaseUrl }) => {
    const Config = ServiceConfig.pick({ ENVIRONMENT: true, CAZ_DECIMALS: true }).extend(AssetsConfig.shape);
    const { networks } = readAssets(readConfig(Config, env));
    const log = createLogger({ name: 'admin', level: 'warn' });
    const db = createPool({ url: databaseUrl, name: 'admin', max: 1, log });
    const print = (line: string) => void writeLine(line);
    return work({ client, db, networks, now: wallClock, print }).finally(() => db.end());
  });

const program = serviceCommands({
  service: 'payments',
  env,
  projectionOf: paymentProjection,
  moreProjectionsOf: (client) => [payableProjection(client)],
  ownPrefixes: [PAYMENT_STREAM_PREFIX, ACCOUNT_STREAM_PREFIX, CHAIN_STREAM_PREFIX, DEPOSIT_SETTINGS_STREAM],
  migrations: MIGRATIONS.folder,
  published: { topic: TOPICS.payments.name, objectType: 'payment' },
  verifyMore: ({ client, ...options }) => verifyBooks(client, options),
});
addChainsCommands(program, withChains(env));
addUnclaimedCommands(program, withUnclaimed);
process.exitCode = await runServiceCommands(program, process.argv.slice(2));
