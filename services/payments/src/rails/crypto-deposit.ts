import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { assetsOf, depositInstruction, payableAssets, requirePayable } from '@cpg/assets';
import type { LeasedAddress } from '@cpg/contracts';
import type { LeaseIndexes } from '../accounts/lease-indexes.ts';
import type { AddressLease, StockSources } from '../stock.ts';
import { receivingPath } from './account-key.ts';
import type { DepositNetwork } from './networks.ts';
import type { Rail } from './rail.ts';

export interface CryptoDepositOptions {
  readonly networks: readonly DepositNetwork[];
  /** Leases indexes of the account with this fingerprint. */
  readonly leaseIndexes: (fingerprint: string, ...args: Parameters<LeaseIndexes>) => ReturnType<LeaseIndexes>;
  /** The monotonic clock of the leases. */
  readonly nowMs: () => number;
}

/** On-chain deposits: one address per order and network, derived from the public key of an account. */
export const cryptoDeposit = ({
  networks,
  leaseIndexes,
  nowMs,
}: CryptoDepositOptions): Rail & Pick<StockSources, 'leaseAddresses'> => {
  const byName = new Map(networks.map((network) => [network.name, network]));
  const assets = networks.flatMap((network) => network.assets);

  const lease = async (network: DepositNetwork, count: number): Promise<AddressLease> => {
    const { fingerprint } = network.account;
    const { indexes, endsAtMs } = await leaseIndexes(fingerprint, count);
    const derived = await deriveAddresses(network, indexes);
    const addresses: LeasedAddress[] = indexes.map((index, n) => ({
      address: derived[n]!,
      derivation: { fingerprint, path: receivingPath(index) },
    }));
    return { addresses, leaseMs: endsAtMs - nowMs() };
  };

  return {
    supports: (currency) => assetsOf({ assets }, currency).length > 0,
    requirePayable: ({ currency, amountMinor }) => {
      if (amountMinor !== undefined) requirePayable({ assets }, currency, amountMinor);
    },
    assignInstructions: async ({ currency, amountMinor }) => {
      const payable =
        amountMinor === undefined ? assetsOf({ assets }, currency) : payableAssets({ assets }, currency, amountMinor);
      const assigned = await Promise.all(
        payable.map(async (asset) => {
          const { addresses, leaseMs } = await lease(byName.get(asset.network.name)!, 1);
          return { instruction: depositInstruction(asset, addresses[0]!), leaseMs };
        }),
      );
      return {
        instructions: assigned.map(({ instruction }) => instruction),
        leaseMs: Math.min(...assigned.map(({ leaseMs }) => leaseMs)),
      };
    },
    leaseAddresses: async (name, count) => {
      const network = byName.get(name);
      return network ? lease(network, count) : null;
    },
  };
};

/** Calculates keys and addresses twice and compares, because money sent to a wrong address is lost. */
export const deriveAddresses = async (
  { account, addressOf }: Pick<DepositNetwork, 'account' | 'addressOf'>,
  indexes: readonly number[],
): Promise<string[]> => {
  const keys = [];
  const addresses = [];
  for (const index of indexes) {
    const key = account.receiving(index);
    const address = addressOf(key);
    if (address !== addressOf(key)) throw new Error('two spellings of one address differ');
    keys.push(key);
    addresses.push(address);
    await yieldToEventLoop();
  }
  account.requireReceiving(indexes, keys);
  return addresses;
};
