import type { Pool } from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { depositAccounts } from '../accounts/deposit-accounts.ts';
import { merchantAccounts } from '../accounts/merchant-accounts.ts';
import type { Config } from '../config.ts';
import { instructionsFrom } from '../instructions.ts';
import { openProviders } from '../providers/open-providers.ts';
import { stockFrom } from '../stock.ts';
import { cryptoDeposit } from './crypto-deposit.ts';
import { gatewayPay, leaseReferences } from './gateway-pay.ts';

export interface RailsOptions {
  readonly config: Pick<Config, 'ENVIRONMENT' | 'PUBLIC_URL' | 'providers' | 'networks' | 'assets'>;
  readonly client: EventStoreDBClient;
  readonly readModel: Pool;
  readonly now: () => Date;
}

/** The rails of the settings, with the accounts and providers behind them. */
export const openRails = ({ config, client, readModel, now }: RailsOptions) => {
  const { networks, assets: table } = config;
  const nowMs = () => performance.now();
  const accounts = merchantAccounts({ client, table, networks, now });
  const leaseIndexes = depositAccounts({ client, readModel, now, nowMs });
  const deposits = cryptoDeposit({ networks, readAccounts: accounts.read, leaseIndexes, nowMs });
  const providers = openProviders(config, { networks: [], assignDeposits: deposits.assignInstructions }, now);
  return {
    accounts,
    providers,
    instructions: instructionsFrom({ gateway_pay: gatewayPay(providers), crypto_deposit: deposits }),
    stock: stockFrom({ leaseAddresses: deposits.leaseAddresses, leaseReferences: leaseReferences(providers) }),
  };
};
