import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Asset, assetsOf, depositInstruction, payableAssets, requirePayable } from '@cpg/assets';
import { AppError, type LeasedAddress, type PaymentRail } from '@cpg/contracts';
import type { AccountBook } from '../addresses/account-book.ts';
import type { LeaseOfAccount } from '../addresses/deposit-accounts.ts';
import type { DepositNetwork } from '../addresses/deposit-network.ts';
import type { NetworkAvailability, NetworkStates } from '../chains/network-availability.ts';
import { receivingPath } from '../payables/payable.ts';
import type { OrderToPay, Rail, StockSources } from './rail.ts';

export interface CryptoDepositOptions {
  readonly networks: readonly DepositNetwork[];
  readonly readAccounts: () => Promise<AccountBook>;
  readonly leaseIndexes: LeaseOfAccount;
  readonly readNetworks: NetworkAvailability['read'];
  /** The rail that shows the addresses. */
  readonly rail?: PaymentRail;
}

/** On-chain deposits: one address per order and network, derived from the public key of an account: the merchant's own,
 *  or that of the platform. */
export const cryptoDeposit = ({
  networks,
  readAccounts,
  leaseIndexes,
  readNetworks,
  rail = 'crypto_deposit',
}: CryptoDepositOptions): Rail & Pick<StockSources, 'leaseAddresses'> => {
  const assets = networks.flatMap((network) => network.assets);

  const lease = async (book: AccountBook, network: DepositNetwork, count: number): Promise<LeasedAddress[]> => {
    const { fingerprint } = network.account;
    const addresses: LeasedAddress[] = [];
    for (const index of await leaseIndexes(book, network, count)) {
      addresses.push({ address: network.addressAt(index), derivation: { fingerprint, path: receivingPath(index) } });
      await yieldToEventLoop();
    }
    return addresses;
  };

  const find = async (order: PayableOrder) => {
    const states = await readNetworks();
    const payable = payableAssets({ assets }, order.currency, order.amountMinor);
    const available = payable.filter(({ network }) => states.get(network.name)?.isAvailable);
    return { payable, available, states };
  };

  return {
    supports: (currency) => assetsOf({ assets }, currency).length > 0,
    requirePayable: async (order) => {
      const { currency, amountMinor } = order;
      requirePayable({ assets }, currency, amountMinor, rail);
      const { payable, available, states } = await find(order);
      if (available.length === 0) throw networkUnavailable(rail, order, payable, states);
    },
    offerOf: async (currency) => {
      const states = await readNetworks();
      const offered = assetsOf({ assets }, currency).map((asset) => ({
        asset,
        isAvailable: states.get(asset.network.name)?.isAvailable ?? false,
      }));
      const available = offered.filter(({ isAvailable }) => isAvailable);
      return {
        isAvailable: available.length > 0,
        smallestMinor: (available.length > 0 ? available : offered)
          .map(({ asset }) => asset.smallestPayableMinor)
          .reduce((a, b) => (a < b ? a : b)),
        assets: offered,
      };
    },
    assignInstructions: async (order) => {
      const { merchantId, amountMinor } = order;
      const { payable, available, states } = await find(order);
      // A sandbox has pages without addresses.
      if (available.length === 0 && rail === 'crypto_deposit') throw networkUnavailable(rail, order, payable, states);
      const book = await readAccounts();
      return Promise.all(
        available.map(async (asset) => {
          const [address] = await lease(book, book.accountFor(merchantId, asset.network.name)!, 1);
          const requiredConfirmations = book.requiredConfirmations(merchantId, asset, amountMinor);
          return depositInstruction({ ...asset, requiredConfirmations }, address!);
        }),
      );
    },
    leaseAddresses: async (name, count) => {
      const book = await readAccounts();
      const network = networkNamed(book, name);
      return network ? lease(book, network, count) : null;
    },
  };
};

type PayableOrder = Pick<OrderToPay, 'currency' | 'amountMinor'>;

const networkUnavailable = (
  rail: PaymentRail,
  { currency }: PayableOrder,
  payable: readonly Asset[],
  states: NetworkStates,
): AppError => {
  const reasons = payable.map(({ network: { name } }) => {
    const state = states.get(name);
    return `${name} is unavailable, because ${state?.isAvailable === false ? state.reason : 'it is not configured'}`;
  });
  const message = `${rail} cannot take ${currency} now: ${[...new Set(reasons)].join('; ')}`;
  return new AppError('network_unavailable', `enable_rails: ${message}`, {
    details: [{ path: 'enable_rails', message }],
  });
};

/** The account that a name in the stock means: of the platform on a network, or of a merchant after a slash. */
const networkNamed = (book: AccountBook, name: string): DepositNetwork | null => {
  const slash = name.lastIndexOf('/');
  const own = slash < 0 ? null : book.accountBy(name.slice(0, slash), name.slice(slash + 1));
  return own ?? book.platformAccount(name);
};
