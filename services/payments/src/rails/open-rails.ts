import type { Pool } from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { depositAccounts } from '../accounts/deposit-accounts.ts';
import { merchantAccounts } from '../accounts/merchant-accounts.ts';
import { watchedNetworks } from '../chains/chain-urls.ts';
import type { Config } from '../config.ts';
import { instructionsFrom } from '../instructions.ts';
import { openProviders } from '../providers/open-providers.ts';
import { stockFrom } from '../stock.ts';
import { cryptoDeposit } from './crypto-deposit.ts';
import { gatewayPay, leaseReferences } from './gateway-pay.ts';
import type { DepositNetwork } from './networks.ts';

export interface RailsOptions {
  readonly config: Pick<Config, 'ENVIRONMENT' | 'PUBLIC_URL' | 'CHAIN_URLS' | 'providers' | 'networks' | 'assets'>;
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
  const depositsOn = (on: readonly DepositNetwork[]) =>
    cryptoDeposit({ networks: on, readAccounts: accounts.read, leaseIndexes, nowMs });
  const deposits = depositsOn(networks);
  const watched = watchedNetworks(config);
  const behindPages = { networks: watched, assignDeposits: depositsOn(watched).assignInstructions };
  const providers = openProviders(config, behindPages, now);
  return {
    accounts,
    providers,
    instructions: instructionsFrom({ gateway_pay: gatewayPay(providers), crypto_deposit: deposits }),
    stock: stockFrom({ leaseAddresses: deposits.leaseAddresses, leaseReferences: leaseReferences(providers) }),
  };
};
