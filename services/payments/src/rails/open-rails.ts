import type { AssetTable } from '@cpg/assets';
import {
  AppError,
  type Availability,
  fromMinor,
  type Instructions,
  type InstructionsCall,
  invalidRequest,
  PaymentCurrency,
  type PaymentRail,
  type RailOffer,
  type Scales,
  type Stock,
  type StockCall,
} from '@cpg/contracts';
import { steadyNowMs } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { merchantAccounts } from '../addresses/account-book.ts';
import { depositAccounts } from '../addresses/deposit-accounts.ts';
import type { DepositNetwork } from '../addresses/deposit-network.ts';
import { mostConfirmations } from '../chains/chain-kind.ts';
import { type ChainsConfig, type NetworkAvailability, watchedNetworks } from '../chains/network-availability.ts';
import { cryptoDeposit } from './crypto-deposit.ts';
import { gatewayPay, leaseReferences, openProviders, type ProvidersConfig } from './gateway-pay/gateway-pay.ts';
import type { Rail, StockSources } from './rail.ts';

export interface RailsOptions {
  readonly config: ProvidersConfig &
    Pick<ChainsConfig, 'CHAIN_URLS'> & {
      readonly networks: readonly DepositNetwork[];
      readonly assets: AssetTable;
      readonly scales: Scales;
    };
  readonly client: EventStoreDBClient;
  readonly readModel: Pool;
  readonly readNetworks: NetworkAvailability['read'];
  readonly now: () => Date;
}

/** The rails of the settings, with the accounts and providers behind them. */
export const openRails = ({ config, client, readModel, readNetworks, now }: RailsOptions) => {
  const { networks, assets: table } = config;
  const accounts = merchantAccounts({ client, table, networks, mostConfirmations, now });
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
    instructions: instructionsFrom(rails, config.scales),
    availability: availabilityOf(rails, config.scales, readNetworks),
    stock: stockFrom({ leaseAddresses: deposits.leaseAddresses, leaseReferences: leaseReferences(providers) }),
  };
};

/** The currencies and networks that new orders can be paid with. */
const availabilityOf =
  (rails: Rails, scales: Scales, readNetworks: NetworkAvailability['read']) => async (): Promise<Availability> => {
    const networks = [...(await readNetworks())].flatMap(([name, state]) =>
      state.isAvailable ? [[name, Math.ceil(state.forMs)] as const] : [],
    );
    const offers = Object.entries(rails).map(async ([name, rail]) => [name, await offersOf(rail, scales)] as const);
    return {
      networks: Object.fromEntries(networks),
      offers: Object.fromEntries(await Promise.all(offers)) as Record<PaymentRail, RailOffer[]>,
    };
  };

const offersOf = (rail: Rail, scales: Scales): Promise<RailOffer[]> =>
  Promise.all(
    PaymentCurrency.options
      .filter((currency) => rail.supports(currency))
      .map(async (currency) => {
        const { isAvailable, smallestMinor, assets } = await rail.offerOf(currency);
        return {
          currency,
          is_available: isAvailable,
          minimum_amount: fromMinor(smallestMinor, scales[currency]),
          networks: assets.map((each) => ({
            network: each.asset.network.name,
            chain_id: each.asset.network.chainId,
            asset: each.asset.id,
            ...(each.asset.label && { asset_label: each.asset.label }),
            minimum_amount: fromMinor(each.asset.smallestPayableMinor, scales[currency]),
            is_available: each.isAvailable,
          })),
        };
      }),
  );

type Rails = Readonly<Record<PaymentRail, Rail>>;

/** Assigns deposit instructions to an order on each of its enabled rails. Throws
 *  `invalid_request` naming every rail that does not support the currency, `amount_too_small` if a rail cannot take
 *  the amount, and `network_unavailable` if it cannot take it now, before anything is assigned. Throws
 *  `dependency_unavailable` if orders counts the currency with other decimals than this service. */
export const instructionsFrom =
  (rails: Rails, scales: Scales) =>
  async ({
    order_id: orderId,
    merchant_id: merchantId,
    currency,
    rails: enabled,
    amount_minor: amountMinor,
    decimals,
  }: InstructionsCall): Promise<Instructions> => {
    // The amounts of instructions are in minor units of this service.
    if (decimals !== scales[currency])
      throw new AppError('dependency_unavailable', `${currency} is not available: try again later`, {
        cause: new Error(
          `orders counts ${currency} with ${decimals} decimals, payments with ${scales[currency]}: set the same CAZ_DECIMALS for all services`,
        ),
      });
    const faults = enabled
      .filter((name) => !rails[name].supports(currency))
      .map((name) => ({ path: 'enable_rails', message: `${name} does not support ${currency}` }));
    if (faults.length > 0) throw invalidRequest(faults);
    const order = { orderId, merchantId, currency, amountMinor: BigInt(amountMinor), decimals };
    for (const name of enabled) await rails[name].requirePayable(order);
    const assigned = await Promise.all(enabled.map((name) => rails[name].assignInstructions(order)));
    return { instructions: assigned.flat() };
  };

/** Leases payables that orders puts into new orders without a call for each. References are random and need no lease of
 *  their own. */
export const stockFrom =
  ({ leaseAddresses, leaseReferences }: StockSources) =>
  async ({ addresses: wanted, references }: StockCall): Promise<Stock> => {
    const asked = Object.entries(wanted).map(
      async ([network, count]) => [network, await leaseAddresses(network, count)] as const,
    );
    const leased = (await Promise.all(asked)).flatMap(([network, lease]) => (lease ? [[network, lease] as const] : []));
    return {
      addresses: Object.fromEntries(leased),
      references: leaseReferences(references),
    };
  };
