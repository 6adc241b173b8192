import { AssetsConfig, type Network, readAssets } from '@cpg/assets';
import {
  ACCOUNT_STREAM_PREFIX,
  CHAIN_STREAM_PREFIX,
  DEPOSIT_SETTINGS_STREAM,
  LEDGER_STREAM_PREFIX,
  MERCHANT_STREAM_PREFIX,
  PAYMENT_STREAM_PREFIX,
  SCALES_STREAM,
  STORE_STREAM,
  TOPICS,
  TRANSPARENCY_LOG_STREAM,
} from '@cpg/contracts';
import { runServiceCommands, serviceCommands, withStores } from '@cpg/operations';
import { createLogger, readConfig, ServiceConfig, wallClock, writeErrorLine, writeLine } from '@cpg/platform';
import type { RunWith } from '@cpg/platform/commands';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { verifyBooks } from './books/compare-streams.ts';
import { verifyLedger } from './books/ledger.ts';
import { addChainsCommands, type ChainsCommand } from './chains/operator/chains-commands.ts';
import { addUnclaimedCommands, type UnclaimedCommand } from './matching/unclaimed-commands.ts';
import { MIGRATIONS } from './migrations.ts';
import { payableProjection } from './payables/payable-projection.ts';
import { paymentProjection } from './read/payment-projection.ts';

const { env } = process;

const Config = ServiceConfig.pick({ DATABASE_URL: true, ENVIRONMENT: true, CAZ_DECIMALS: true }).extend(
  AssetsConfig.shape,
);

interface AssetsAndPool extends Pick<ChainsCommand, 'assets' | 'db' | 'print'> {
  readonly networks: readonly Network[];
}

const withPool = async <T>(work: (db: Pool) => Promise<T>): Promise<T> => {
  const { DATABASE_URL: url } = readConfig(ServiceConfig.pick({ DATABASE_URL: true }), env);
  const db = createPool({ url, name: 'admin', max: 1, log: createLogger({ name: 'admin', level: 'warn' }) });
  return work(db).finally(() => db.end());
};

const withAssetsAndPool: RunWith<AssetsAndPool> = async (work) => {
  const { assets, networks } = readAssets(readConfig(Config, env));
  const print = (line: string) => void writeLine(line);
  return withPool((db) => work({ assets, networks, db, print }));
};

const withChains: RunWith<ChainsCommand> = (work) =>
  withAssetsAndPool(({ networks, ...rest }) =>
    work({ ...rest, networks: networks.map(({ name }) => name), warn: writeErrorLine }),
  );

const withUnclaimed: RunWith<UnclaimedCommand> = (work) =>
  withStores(env, ({ client }) =>
    withAssetsAndPool(({ networks, db, print }) => work({ client, db, networks, now: wallClock, print })),
  );

const program = serviceCommands({
  service: 'payments',
  env,
  projectionOf: paymentProjection,
  moreProjectionsOf: (client) => [payableProjection(client)],
  ownPrefixes: [
    PAYMENT_STREAM_PREFIX,
    LEDGER_STREAM_PREFIX,
    ACCOUNT_STREAM_PREFIX,
    CHAIN_STREAM_PREFIX,
    DEPOSIT_SETTINGS_STREAM,
    MERCHANT_STREAM_PREFIX,
    TRANSPARENCY_LOG_STREAM,
    SCALES_STREAM,
    STORE_STREAM,
  ],
  migrations: MIGRATIONS.folder,
  published: { topic: TOPICS.payments.name, objectType: 'payment' },
  verifyMore: async ({ client, ...options }) => {
    const parts = [await verifyBooks(client, options), await withPool(verifyLedger)];
    return { lines: parts.flatMap(({ lines }) => lines), faults: parts.reduce((sum, { faults }) => sum + faults, 0) };
  },
});
addChainsCommands(program, withChains);
addUnclaimedCommands(program, withUnclaimed);
process.exitCode = await runServiceCommands(program, process.argv.slice(2));
