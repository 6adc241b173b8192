import { readAssets } from '@cpg/assets';
import { ACCOUNT_STREAM_PREFIX } from '@cpg/contracts';
import { createServiceMetrics } from '@cpg/platform';
import type { ChainSource, Transfer } from '../chains/chain-source.ts';
import { networkAvailability } from '../chains/network-availability.ts';
import { chainKindOf } from '../chains/chain-kind.ts';
import { watchChains } from '../chains/watch-chains.ts';
import { paymentIdOf } from '../payment/identity.ts';
import { type DepositNetwork, depositNetworksOf } from '../addresses/deposit-network.ts';
import { appliedOnceConfirmed, until } from './jest-fixtures.ts';
import { deposit } from './jest-order-events.ts';
import type { PaymentsService } from './jest-payments.ts';

export const NETWORK = 'ethereum-sepolia';
const networks = depositNetworksOf(readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 }));
export const sepolia = networks.find(({ name }) => name === NETWORK)!;
export const bitcoinTestnet = networks.find(({ name }) => name === 'bitcoin-testnet')!;
export const usdc = sepolia.assets.find(({ currency }) => currency === 'USDC')!;

/** 10 USDC by the first log of a transaction, to the address of an index by default. */
export const transferTo = (index: number, txHash: string, changes: Partial<Transfer> = {}): Transfer => ({
  id: `${txHash}:0`,
  txHash,
  address: sepolia.addressAt(index),
  asset: usdc.id,
  units: 10_000_000n,
  ...changes,
});

/** Processes that watch a network, with the stores of a payments service. */
export const watchedNetwork = (payments: PaymentsService, of: DepositNetwork = sepolia) => {
  const running: ReturnType<ReturnType<typeof watchChains>['start']>[] = [];
  return {
    reserve: () =>
      payments.events.record(`${ACCOUNT_STREAM_PREFIX}${of.account.fingerprint}`, 'DerivationIndexesReserved', {
        account: of.account.fingerprint,
        first: 0,
        count: 10,
        again: [],
      }),
    /** One process. All share the stores and the node. */
    startProcess: (source: ChainSource, name = of.name) => {
      const { client, pool, log, registerPayment, changes, subscription } = payments;
      const network = { ...of, name };
      const registry = createServiceMetrics({ totals: () => ({}) });
      const config = {
        DATABASE_URL: subscription.databaseUrl,
        ENVIRONMENT: 'sandbox' as const,
        CHAIN_POLL_MS: 20,
        CHAIN_QUORUM: undefined,
        networks: [network],
        CHAIN_URLS: { [name]: ['http://127.0.0.1:1'] },
      };
      const now = () => new Date();
      const availability = networkAvailability({ config, db: pool, now });
      const chains = watchChains({
        config,
        availability,
        client,
        pool,
        log,
        register: registerPayment,
        fail: changes.fail,
        changeRefund: changes.changeRefund,
        findPayment: payments.commands.find,
        now,
        endsBy: now,
        // Readings and answers that differ wait for so long: the simulated chain knows everything at once.
        kindOf: (...of) => ({ ...chainKindOf(...of), settleMs: 200 }),
        openSource: () => ({ ...source, close: async () => {} }),
        accounts: {
          accountsOf: async () => [network],
          requiredConfirmations: async (_merchantId, asset) => asset.requiredConfirmations,
        },
        findPayable: payments.findPayable,
        metrics: registry,
      });
      running.push(chains.start());
      return {
        ...chains,
        readNetworks: availability.read,
        running: running.at(-1)!,
        metrics: () => registry.metrics(),
      };
    },
    /** An order that is paid at the address of an index. */
    orderAt: (index: number) => payments.createOrder(appliedOnceConfirmed, [deposit(sepolia.addressAt(index), index)]),
    /** Waits until the payment of a transfer has a status. */
    paymentOf: async ({ id }: Transfer, status: string) => {
      const paymentId = paymentIdOf('crypto_deposit', `${of.chainId}/${id}`);
      return until(async () => {
        const row = await payments.rowOf(paymentId);
        return row?.status === status ? (row.resource as Record<string, unknown>) : null;
      });
    },
    stop: async () => void (await Promise.all(running.map(({ stop }) => stop()))),
  };
};
