import { join } from 'node:path';
import { readAssets } from '@cpg/assets';
import type { PaymentCurrency } from '@cpg/contracts';
import { createPool, migrate, testDatabase } from '@cpg/postgres';
import { createLogger, newId } from '@cpg/runtime';
import { instructionsFrom } from '../instructions.ts';
import { cryptoDeposit } from '../rails/crypto-deposit.ts';
import { gatewayPay, leaseReferences, sandboxProvider } from '../rails/gateway-pay.ts';
import { depositNetworksOf } from '../rails/networks.ts';
import { stockFrom } from '../stock.ts';

const SERVICE = join(import.meta.dirname, '../..');
const MERCHANT = newId('merchant');

export const SANDBOX = readAssets({ ENVIRONMENT: 'sandbox' });

export type RailsDatabase = Awaited<ReturnType<typeof startRailsDatabase>>;

/** A database with the tables of payments, and the rails of any number of processes that share it. */
export const startRailsDatabase = async () => {
  const log = createLogger({ name: 'rails', level: process.env.LOG_LEVEL ?? 'silent' });
  const database = await testDatabase();
  const pool = createPool({ url: database.url, name: 'rails-test', log });
  await migrate(pool, { schema: 'payments', folder: join(SERVICE, 'migrations') });
  return {
    pool,
    /** The rails of one process; processes share nothing but the database. */
    startProcess: (networks = depositNetworksOf(SANDBOX)) =>
      instructionsFrom({
        gateway_pay: gatewayPay([sandboxProvider({ pool, publicUrl: 'http://127.0.0.1:4000' })]),
        crypto_deposit: cryptoDeposit({ networks, pool }),
      }),
    /** The instructions and the stock of one process. */
    startStock: () => {
      const deposits = cryptoDeposit({ networks: depositNetworksOf(SANDBOX), pool });
      const provider = sandboxProvider({ pool, publicUrl: 'http://127.0.0.1:4000' });
      return {
        assign: instructionsFrom({ gateway_pay: gatewayPay([provider]), crypto_deposit: deposits }),
        lease: stockFrom({
          leaseAddresses: deposits.leaseAddresses,
          leaseReferences: leaseReferences([provider]),
        }),
      };
    },
    stop: async () => {
      await pool.end();
      await database.drop();
    },
  };
};

type Assign = ReturnType<typeof instructionsFrom>;

export const instructionsOf = (
  assign: Assign,
  orderId: string,
  currency: PaymentCurrency = 'ETH',
  rails: ('crypto_deposit' | 'gateway_pay')[] = ['crypto_deposit'],
) => assign({ order_id: orderId, merchant_id: MERCHANT, currency, rails });

export const depositOf = async (...args: Parameters<typeof instructionsOf>) => {
  const [instruction] = await instructionsOf(...args);
  if (instruction?.rail !== 'crypto_deposit') throw new Error('not a deposit');
  return instruction;
};
