import { setTimeout as sleep } from 'node:timers/promises';
import { type Asset, requiredConfirmations } from '@cpg/assets';
import { followLog } from '@cpg/event-sourcing';
import type { Logger, MetricsRegistry } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { MerchantAccounts } from '../addresses/account-book.ts';
import type { DepositNetwork } from '../addresses/deposit-network.ts';
import { unshownAddresses, watchedAccounts } from '../addresses/unshown-addresses.ts';
import type { PaymentChanges } from '../matching/changes.ts';
import type { PaymentCommands } from '../matching/commands.ts';
import type { RegisterPayment } from '../matching/register.ts';
import { newestAddresses } from '../payables/deposit-addresses.ts';
import type { FindPayable } from '../payables/find-payable.ts';
import { payableProjection } from '../payables/payable-projection.ts';
import { addressesShownBy } from '../payables/payable.ts';
import { refundReports } from '../refunds/refund-reports.ts';
import { refundsTo } from '../refunds/refund-rows.ts';
import { type ChainKind, chainKindOf } from './chain-kind.ts';
import { availabilityMetric, type ChainMetrics, chainMetrics } from './chain-metrics.ts';
import type { BlockRef, ChainSource, NodeFault } from './chain-source.ts';
import { chainDetails, readStatusOf } from './chain-status.ts';
import { type ChainsConfig, type NetworkAvailability, watchedNetworks } from './network-availability.ts';
import { timesOfBlocks } from './nodes/agreement.ts';
import { openChainSource } from './open-chain-source.ts';
import { chainStream } from './reading/chain-stream.ts';
import { chainTables } from './reading/chain-tables.ts';
import { rescanner, rescanRows } from './reading/rescan.ts';
import type { Quorum } from './reading/seen-transfer.ts';
import { type WatchedAddresses, watchedAddresses } from './reading/watched-addresses.ts';
import { chainWatcher } from './reading/watcher.ts';
import { minorOf, reporter, type RequiredConfirmations } from './reporting/reporter.ts';
import { type Chains, startChains, type WatchedChain } from './start-chains.ts';

interface NodesOfNetwork {
  readonly urls: readonly string[];
  readonly onFault: (fault: NodeFault, node: number, error: Error) => void;
  readonly onUnproven: (block: BlockRef, part: string) => void;
}

type OpenSource = (
  network: DepositNetwork,
  nodes: NodesOfNetwork,
) => ChainSource & { readonly close: () => Promise<void> };

export interface WatchChainsOptions {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  readonly config: ChainsConfig & {
    readonly DATABASE_URL: string;
    readonly CHAIN_QUORUM?: number | undefined;
    readonly networks: readonly DepositNetwork[];
  };
  readonly openSource?: OpenSource;
  readonly kindOf?: typeof chainKindOf;
  readonly availability: NetworkAvailability;
  readonly accounts: Pick<MerchantAccounts, 'accountsOf' | 'requiredConfirmations'>;
  readonly findPayable: FindPayable;
  readonly register: RegisterPayment;
  readonly fail: PaymentChanges['fail'];
  readonly changeRefund: PaymentChanges['changeRefund'];
  readonly findPayment: PaymentCommands['find'];
  readonly metrics: MetricsRegistry;
  readonly now: () => Date;
  /** The time by which addresses retire: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  readonly log: Logger;
}

/** The chains of the networks with nodes. Nothing is read before `start`. */
export const watchChains = (options: WatchChainsOptions) => {
  const { kindOf = chainKindOf, pool, config, availability, metrics, log } = options;
  const { read: readNetworks } = availability;
  const { CHAIN_POLL_MS, DATABASE_URL: databaseUrl } = config;
  const watched = watchedNetworks(config);
  const kinds = new Map(watched.map(({ name, chainId }) => [name, kindOf(chainId, CHAIN_POLL_MS)]));
  logUnwatched(config, log);
  let chains: Chains | undefined;
  const counts = chainMetrics(metrics, () => chains?.progress() ?? new Map(), config.CHAIN_URLS);
  availabilityMetric(metrics, availability.latest);
  const addresses = addressesOfOrders({ ...options, ...counts });
  const chainOf = (network: DepositNetwork): WatchedChain =>
    watchedChain(network, kinds.get(network.name)!, addresses, { ...options, ...counts });
  return {
    start: (): Chains => (chains = startChains(watched.map(chainOf), { databaseUrl, log })),
    readStatusOf: readStatusOf(pool, kinds),
    details: () => detailsOf(pool, [...kinds.keys()], readNetworks),
    /** Resolves once the networks that need no operator are available, or after half a minute. A service that is ready
     *  takes orders on them, also where nodes start at the same time. */
    firstLook: () => firstLook(readNetworks),
  };
};

/** For `/health/ready`: how far each network is read, and why new orders do not show it. */
const detailsOf = async (pool: Pool, watched: readonly string[], readNetworks: NetworkAvailability['read']) => {
  const [read, states] = await Promise.all([chainDetails(pool, watched), readNetworks()]);
  const chains = [...states].flatMap(([name, state]) => {
    const detail = { ...read[name], ...(!state.isAvailable && { unavailable: state.reason }) };
    return Object.keys(detail).length > 0 ? [[name, detail] as const] : [];
  });
  return chains.length > 0 ? { chains: Object.fromEntries(chains) } : {};
};

const LOOK_AGAIN_MS = 100;
const LONGEST_LOOK_MS = 30_000;

const firstLook = async (readNetworks: NetworkAvailability['read']): Promise<void> => {
  const endsAtMs = performance.now() + LONGEST_LOOK_MS;
  while (performance.now() < endsAtMs) {
    const states = [...(await readNetworks()).values()];
    if (!states.some((state) => !state.isAvailable && state.isExpected)) return;
    await sleep(LOOK_AGAIN_MS, undefined, { ref: false });
  }
};

/** Money that arrives on a network without nodes is seen only when somebody reports it. */
const logUnwatched = ({ networks, CHAIN_URLS, ENVIRONMENT }: WatchChainsOptions['config'], log: Logger): void => {
  const unwatched = networks.map(({ name }) => name).filter((name) => CHAIN_URLS[name] === undefined);
  if (unwatched.length === 0) return;
  const level = ENVIRONMENT === 'production' ? 'warn' : 'info';
  log[level]({ networks: unwatched }, 'nobody reads these networks: set CHAIN_URLS to see their deposits');
};

/** How long the balances of the addresses of an order are compared. */
const BALANCES_FOR_MS = 24 * 3_600_000;

const openConfigured: OpenSource = ({ assets }, nodes) => openChainSource(assets[0]!.network, assets, nodes);

const watchedChain = (
  network: DepositNetwork,
  kind: ChainKind,
  watched: WatchedAddresses,
  options: WatchChainsOptions & ChainMetrics,
): WatchedChain => {
  const { client, pool, config, readingCounts, reportRefused, register, fail, now, log } = options;
  const { name, chainId, assets } = network;
  const urls = config.CHAIN_URLS[name]!;
  const assetIds = new Set(assets.map(({ id }) => id));
  const quorum = quorumOf(assets, { quorum: config.CHAIN_QUORUM, nodes: urls.length });
  return {
    network: name,
    kind,
    open: (isLeader) => {
      const source = openWatchedSource(network, urls, options);
      const store = chainTables(pool, name, kind.windowBlocks, timesOfBlocks(chainId));
      const report = reporter({
        network: name,
        chainId,
        assets,
        store,
        register,
        fail,
        reportRefund: refundReports({
          ...options,
          network: name,
          assets,
          refundsTo: (address) => refundsTo(pool, address),
          spendsFrom: source.spendsFrom,
        }),
        quorum,
        isLeader,
        countRefused: () => reportRefused(name),
        log,
        requiredConfirmations: requiredByMerchant(options),
        isFinal: source.isFinal,
      });
      const stream = chainStream(client, { network: name, chainId, now });
      const watcher = chainWatcher({
        network: name,
        kind,
        source,
        store,
        stream,
        watched,
        report,
        assets: assetIds,
        recheckDepth: Math.min(...assets.map((asset) => asset.requiredConfirmations)),
        quorum,
        coin: assets.find(({ contract }) => contract === undefined)?.id ?? null,
        openAddresses: () => newestAddresses(pool, name, new Date(now().getTime() - BALANCES_FOR_MS)),
        count: readingCounts(name),
        now,
        log,
      });
      const rescans = rescanRows(pool, name);
      const { follow } = rescanner({ network: name, source, store, rescans, watched, assets: assetIds, now, log });
      return { watcher, followRescans: follow, close: source.close };
    },
  };
};

/** Opens the nodes of a network. Their faults are counted and logged. */
const openWatchedSource = (
  network: DepositNetwork,
  urls: readonly string[],
  { openSource = openConfigured, nodeFailed, blockUnproven, log }: WatchChainsOptions & ChainMetrics,
): ReturnType<OpenSource> => {
  const { name } = network;
  const logFault = faultLog(name, log);
  const unproven = new Set<string>();
  return openSource(network, {
    urls,
    onFault: (fault, node, error) => {
      nodeFailed(name, node, fault);
      logFault(fault, node, error);
    },
    onUnproven: ({ height }, part) => {
      blockUnproven(name, part);
      if (!unproven.has(part)) log.warn({ network: name, height, part }, 'the hash of a block does not prove it');
      unproven.add(part);
    },
  });
};

/** The nodes that must have shown money before it is confirmed. Without `quorum`, two for amounts from the first tier
 *  of confirmations on, where there are two. */
export const quorumOf =
  (
    assets: readonly Asset[],
    { quorum, nodes }: { readonly quorum: number | undefined; readonly nodes: number },
  ): Quorum =>
  ({ asset: id, units }) => {
    if (quorum !== undefined) return quorum;
    const asset = assets.find((each) => each.id === id);
    const limitMinor = asset?.confirmationTiers[0]?.fromMinor;
    return nodes > 1 && limitMinor !== undefined && minorOf(asset!, units) >= limitMinor ? 2 : 1;
  };

const LOG_AGAIN_AFTER_MS = 600_000;

/** Logs a fault of a node when it begins and every ten minutes, because a node can fail each question. */
const faultLog = (network: string, log: WatchChainsOptions['log']): NodesOfNetwork['onFault'] => {
  const loggedAt = new Map<string, number>();
  return (fault, node, error) => {
    const key = `${node} ${fault}`;
    const nowMs = performance.now();
    if (nowMs - (loggedAt.get(key) ?? -Infinity) < LOG_AGAIN_AFTER_MS) return;
    loggedAt.set(key, nowMs);
    log.warn({ network, node, fault, detail: error.message }, 'a node of the chain gave no usable answer');
  };
};

/** By the settings of the merchant whose order shows the address. */
const requiredByMerchant =
  ({ accounts, findPayable }: Pick<WatchChainsOptions, 'accounts' | 'findPayable'>): RequiredConfirmations =>
  async ({ asset, amountMinor, address }) => {
    const merchantId = (await findPayable({ address }))?.merchantId ?? null;
    return merchantId === null
      ? requiredConfirmations(asset, amountMinor)
      : accounts.requiredConfirmations(merchantId, asset, amountMinor);
  };

/** The watched addresses of all networks: money for one may arrive on another. */
const addressesOfOrders = (options: WatchChainsOptions & Pick<ChainMetrics, 'indexesSkipped'>): WatchedAddresses => {
  const { client, pool, config, accounts, endsBy, indexesSkipped, now, log } = options;
  const readAccounts = () => watchedAccounts(config.networks, accounts.accountsOf);
  const unshown = unshownAddresses({ client, db: pool, readAccounts, onSkipped: indexesSkipped, now, log });
  const beyondRows = followLog({ client, db: pool, projection: payableProjection(client), keysIn: addressesShownBy });
  return watchedAddresses({
    db: pool,
    beyondRows: async () => {
      const beyond = await beyondRows();
      await unshown.keep();
      return beyond;
    },
    onUnshown: unshown.skipUsed,
    endsBy,
  });
};
