import type { PaymentRail } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import { steadyNowMs } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { depositAccounts } from '../addresses/deposit-accounts.ts';
import { availabilityOf } from './availability.ts';
import { merchantAccounts } from '../addresses/merchant-accounts.ts';
import { watchedNetworks } from '../chains/chain-urls.ts';
import type { NetworkAvailability } from '../chains/network-availability.ts';
import type { Config } from '../config.ts';
import { instructionsFrom } from './instructions.ts';
import { openProviders } from './gateway-pay/open-providers.ts';
import { stockFrom } from './stock.ts';
import { cryptoDeposit } from './crypto-deposit.ts';
import { gatewayPay, leaseReferences } from './gateway-pay/gateway-pay.ts';
import type { DepositNetwork } from '../addresses/deposit-network.ts';

export interface RailsOptions {
  readonly config: Pick<Config, 'ENVIRONMENT' | 'PUBLIC_URL' | 'CHAIN_URLS' | 'providers' | 'networks' | 'assets'>;
  readonly client: EventStoreDBClient;
  readonly readModel: Pool;
  readonly readNetworks: NetworkAvailability['read'];
  readonly now: () => Date;
}

/** The rails of the settings, with the accounts and providers behind them. */
export const openRails = ({ config, client, readModel, readNetworks, now }: RailsOptions) => {
  const { networks, assets: table } = config;
  const accounts = merchantAccounts({ client, table, networks, now });
  const leaseIndexes = depositAccounts({ client, readModel, now, nowMs: steadyNowMs });
  const depositsOn = (on: readonly DepositNetwork[], rail: PaymentRail) =>
    cryptoDeposit({ networks: on, rail, readAccounts: accounts.read, leaseIndexes, readNetworks });
  const deposits = depositsOn(networks, 'crypto_deposit');
  const watched = watchedNetworks(config);
  const behindPages = { networks: watched, deposits: depositsOn(watched, 'gateway_pay') };
  const providers = openProviders(config, behindPages, now);
  const rails = { gateway_pay: gatewayPay(providers), crypto_deposit: deposits };
  return {
    accounts,
    providers,
    instructions: instructionsFrom(rails),
    availability: availabilityOf(rails, readNetworks),
    stock: stockFrom({ leaseAddresses: deposits.leaseAddresses, leaseReferences: leaseReferences(providers) }),
  };
};
