import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readAssets } from '@cpg/assets';
import {
  scalesOf,
  ACCOUNT_STREAM_PREFIX,
  DerivationIndexesReserved,
  type PaymentCurrency,
  type PaymentRail,
  toMinor,
} from '@cpg/contracts';
import { startEventStore } from '@cpg/embedded-eventstore';
import { connectEventStore, readStream, startProjection } from '@cpg/event-sourcing';
import { createLogger, newId } from '@cpg/platform';
import { createPool, migrate } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { HDKey } from '@scure/bip32';
import { merchantAccounts } from '../addresses/account-book.ts';
import { depositAccounts } from '../addresses/deposit-accounts.ts';
import { type DepositNetwork, depositNetworksOf } from '../addresses/deposit-network.ts';
import { mostConfirmations } from '../chains/chain-kind.ts';
import { depositSettings } from '../addresses/merchant-settings.ts';
import type { NetworkStates } from '../chains/network-availability.ts';
import { payableProjection } from '../payables/payable-projection.ts';
import { cryptoDeposit } from '../rails/crypto-deposit.ts';
import { gatewayPay, leaseReferences } from '../rails/gateway-pay/gateway-pay.ts';
import { type hostedProvider, sandboxProvider } from '../rails/gateway-pay/hosted.ts';
import { instructionsFrom, stockFrom } from '../rails/open-rails.ts';
import { orderEvents } from './jest-order-events.ts';

const SERVICE = join(import.meta.dirname, '../..');
export const log = createLogger({ name: 'rails', level: process.env.LOG_LEVEL ?? 'silent' });
export const MERCHANT = newId('merchant');

export const SCALES = scalesOf({ CAZ_DECIMALS: 18 });
export const SANDBOX = readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 });

/** A new account key of an EVM network. */
export const ownKey = (): string => HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'").publicExtendedKey;

export type RailsDatabase = Awaited<ReturnType<typeof startRailsDatabase>>;

/** An event store and a database with the tables of payments, and the rails of any number of processes that share
 *  them. */
export const startRailsDatabase = async () => {
  const [database, eventDatabase] = await Promise.all([testDatabase(), testDatabase()]);
  const eventStore = await startEventStore({ databaseUrl: eventDatabase.url, port: 0 });
  const client = connectEventStore(eventStore.url);
  const pool = createPool({ url: database.url, name: 'rails-test', log });
  const migrations = { schema: 'payments', folder: join(SERVICE, 'migrations') };
  await migrate(pool, migrations);
  let clockMs = 0;
  const unavailable = new Map<string, string>();
  const statesOf = (networks: readonly DepositNetwork[]): NetworkStates =>
    new Map(
      networks.map(({ name }) => {
        const reason = unavailable.get(name);
        return [
          name,
          reason === undefined ? { isAvailable: true, forMs: 1 } : { isAvailable: false, reason, isExpected: true },
        ];
      }),
    );
  const depositsOf = (networks = depositNetworksOf(SANDBOX), rail: PaymentRail = 'crypto_deposit') => {
    const now = () => new Date();
    const readNetworks = async () => statesOf(networks);
    const accounts = merchantAccounts({ client, table: SANDBOX, networks, mostConfirmations, now });
    const leaseIndexes = depositAccounts({ client, readModel: pool, now, nowMs: () => clockMs });
    return {
      ...cryptoDeposit({ networks, rail, readAccounts: accounts.read, leaseIndexes, readNetworks }),
      accounts,
    };
  };
  /** The provider of a process, with addresses on these networks behind its pages. */
  const providerOf = (make = sandboxProvider, hosts: readonly string[] = []) => {
    const networks = depositNetworksOf(SANDBOX).filter(({ name }) => hosts.includes(name));
    return make({ publicUrl: 'http://127.0.0.1:4000', networks, deposits: depositsOf(networks, 'gateway_pay') });
  };
  return {
    pool,
    client,
    events: orderEvents(client),
    /** Says why a network is unavailable; null for an available one. */
    setUnavailable: (network: string, reason: string | null) =>
      void (reason === null ? unavailable.delete(network) : unavailable.set(network, reason)),
    migrate: () => migrate(pool, migrations),
    /** What was reserved for a network's account, in order. */
    reservations: async (network = 'ethereum-sepolia') => {
      const { account } = depositNetworksOf(SANDBOX).find(({ name }) => name === network)!;
      const stream = `${ACCOUNT_STREAM_PREFIX}${account.fingerprint}`;
      return ((await readStream(client, stream, DerivationIndexesReserved)) ?? []).map(({ event }) => event.data);
    },
    /** Passes on the monotonic clocks of all processes. */
    passMs: (ms: number) => void (clockMs += ms),
    startPayables: () =>
      startProjection({ client, pool, databaseUrl: database.url, projection: payableProjection(client), log }),
    /** The rails of one process; processes share nothing but the stores. */
    startProcess: (networks?: DepositNetwork[]) =>
      instructionsFrom(
        {
          gateway_pay: gatewayPay({ outside: [], own: [providerOf()] }),
          crypto_deposit: depositsOf(networks),
        },
        SCALES,
      ),
    /** The instructions and the stock of one process. In production, or with `hosts`, pages have addresses. */
    startStock: (
      hosts?: readonly string[],
      make: typeof hostedProvider = sandboxProvider,
      {
        networks,
        environment = 'sandbox',
      }: { networks?: DepositNetwork[]; environment?: 'sandbox' | 'production' } = {},
    ) => {
      const deposits = depositsOf(networks);
      const { accounts } = deposits;
      const providers = { outside: [], own: [providerOf(make, hosts)] };
      return {
        accounts,
        settings: depositSettings({ client, accounts, table: SANDBOX, environment, log }),
        assign: instructionsFrom({ gateway_pay: gatewayPay(providers), crypto_deposit: deposits }, SCALES),
        lease: stockFrom({ leaseAddresses: deposits.leaseAddresses, leaseReferences: leaseReferences(providers) }),
      };
    },
    stop: async () => {
      await client.dispose();
      await eventStore.stop();
      await pool.end();
      await Promise.all([database.drop(), eventDatabase.drop()]);
    },
  };
};

type Assign = ReturnType<typeof instructionsFrom>;

export const instructionsOf = async (
  assign: Assign,
  orderId: string,
  currency: PaymentCurrency = 'ETH',
  rails: ('crypto_deposit' | 'gateway_pay')[] = ['crypto_deposit'],
  { merchantId = MERCHANT, amountMinor = String(toMinor('0.01', SCALES[currency])) } = {},
) => {
  const money = { currency, amount_minor: amountMinor, decimals: SCALES[currency] };
  const call = { order_id: orderId, merchant_id: merchantId, rails, ...money };
  return (await assign(call)).instructions;
};

export const depositOf = async (...args: Parameters<typeof instructionsOf>) => {
  const [instruction] = await instructionsOf(...args);
  if (instruction?.rail !== 'crypto_deposit') throw new Error('not a deposit');
  return instruction;
};
