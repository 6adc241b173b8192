import { computedMetric, counterMetric, type MetricsRegistry } from '@cpg/platform';
import type { NodeFault, NodeView } from './chain-source.ts';
import type { ChainUrls } from './network-availability.ts';
import type { NetworkStates } from './network-availability.ts';
import type { ChainProgress } from './reading/chain-progress.ts';
import type { ReadingCounts } from './reading/watcher.ts';

export interface ChainMetrics {
  /** A node gave no usable answer, or is not used. `node` is its place in `CHAIN_URLS`, from 1. */
  readonly nodeFailed: (network: string, node: number, fault: NodeFault) => void;
  /** The hash of a block does not prove a part of it. */
  readonly blockUnproven: (network: string, part: string) => void;
  /** Counts what readings of the blocks of a network found. */
  readonly readingCounts: (network: string) => ReadingCounts;
  /** Derivation indexes were skipped, because money arrived at them before they were handed out. */
  readonly indexesSkipped: () => void;
  /** A transfer can never be recorded as a payment. */
  readonly reportRefused: (network: string) => void;
}

type Progress = () => ReadonlyMap<string, ChainProgress>;

/** The metrics of the chains that this process reads, by network. `urls` are the nodes of those that it may read. */
export const chainMetrics = (registry: MetricsRegistry, progress: Progress, urls: ChainUrls): ChainMetrics => {
  addProgress(registry, progress);
  addNodes(registry, progress);
  const networks = Object.keys(urls).map((network) => ({ network }));
  const nodes = Object.entries(urls).flatMap(([network, { length }]) =>
    Array.from({ length }, (_, index) => ({ network, node: String(index + 1) })),
  );
  const ofNode = (name: string, help: string) =>
    counterMetric(registry, { name, help, labelNames: ['network', 'node'], known: nodes });
  const ofNetwork = (name: string, help: string) =>
    counterMetric(registry, { name, help, labelNames: ['network'], known: networks });
  const missed = ofNode('chain_missed_transfers_total', 'Transfers that a node left out and a further reading found');
  const misread = ofNode('chain_misread_transfers_total', 'Transfers that a node showed and that were not so');
  const unexplained = ofNetwork(
    'chain_unexplained_balances_total',
    'Blocks in which an address received coins that no transfer explains',
  );
  const refused = ofNetwork('chain_reports_refused_total', 'Transfers that can never be recorded as a payment');
  const count = counterMetric(registry, {
    name: 'chain_node_faults_total',
    help: 'Questions to a node of a chain without a usable answer, and each side of a disagreement',
    labelNames: ['network', 'node', 'fault'],
  });
  const unproven = counterMetric(registry, {
    name: 'chain_unproven_blocks_total',
    help: 'Blocks with a part that their hash does not prove, because the form of the chain is unknown',
    labelNames: ['network', 'part'],
  });
  const countSkipped = counterMetric(registry, {
    name: 'derivation_indexes_skipped_total',
    help: 'How often money arrived at an address of ours before it was handed out, so that its index is skipped',
    labelNames: [],
    known: [{}],
  });
  return {
    nodeFailed: (network, node, fault) => count({ network, node: String(node), fault }),
    blockUnproven: (network, part) => unproven({ network, part }),
    indexesSkipped: () => countSkipped({}),
    readingCounts: (network) => ({
      missed: (node) => missed({ network, node: String(node) }),
      misread: (node) => misread({ network, node: String(node) }),
      unexplained: () => unexplained({ network }),
    }),
    reportRefused: (network) => refused({ network }),
  };
};

/** Adds how far each chain is read. */
const addProgress = (registry: MetricsRegistry, progress: Progress): void => {
  const add = (name: string, help: string, value: (progress: ChainProgress) => number, isCounter = false) =>
    computedMetric(registry, {
      name,
      help,
      labels: ['network'],
      isCounter,
      values: () => [...progress()].map(([network, each]) => [{ network }, value(each)] as const),
    });
  add('chain_tip_height', 'The highest block that the nodes have', ({ tip }) => tip);
  add('chain_read_height', 'The last block that was read', ({ height }) => height);
  add('chain_lag_blocks', 'Blocks that the nodes have and that were not read', ({ tip, height }) =>
    Math.max(0, tip - height),
  );
  add('chain_watched_addresses', 'Addresses that the tables know, about', ({ watched }) => watched ?? NaN);
  add(
    'chain_read_timestamp_seconds',
    'When all that the nodes had was last read; before that, when the process began to read',
    ({ readAt }) => readAt.getTime() / 1_000,
  );
  add('chain_halted', '1 while an operator has to act', ({ state }) => (state === 'halted' ? 1 : 0));
  add(
    'chain_reports_failing',
    'Transfers whose report as a payment fails and is made again',
    ({ failingReports }) => failingReports,
  );
  add('chain_stalled', '1 while nodes answer, and the chain is not current', ({ stalled }) =>
    stalled === null ? 0 : 1,
  );
  add('chain_reorganizations_total', 'Reorganizations followed', ({ reorganizations }) => reorganizations, true);
  add(
    'chain_recheck_lag_blocks',
    'Blocks that are deep enough and were not read again',
    ({ recheckLag }) => recheckLag,
  );
  computedMetric(registry, {
    name: 'chain_unsettled_transfers',
    help: 'Transfers that are deep enough and not confirmed, because readings differ or too few nodes showed them',
    labels: ['network', 'reason'],
    values: () =>
      [...progress()].flatMap(([network, { unsettled }]) =>
        (['readings', 'quorum'] as const).map((reason) => [{ network, reason }, unsettled[reason]] as const),
      ),
  });
};

/** Adds what each node showed last. */
const addNodes = (registry: MetricsRegistry, progress: Progress): void => {
  const add = (name: string, help: string, value: (node: NodeView) => number) =>
    computedMetric(registry, {
      name,
      help,
      labels: ['network', 'node'],
      values: () =>
        [...progress()].flatMap(([network, { nodes }]) =>
          nodes.map((node) => [{ network, node: String(node.number) }, value(node)] as const),
        ),
    });
  add('chain_node_height', 'The newest block that the node showed', ({ height }) => height);
  add(
    'chain_node_block_timestamp_seconds',
    'The time of the newest block that the node showed',
    ({ time }) => time.getTime() / 1_000,
  );
  add(
    'chain_node_seen_timestamp_seconds',
    'When the node last showed its newest block',
    ({ seenAt }) => seenAt.getTime() / 1_000,
  );
  add('chain_node_used', '0 while the newest block of the node is old, or the node does not answer', ({ isUsed }) =>
    isUsed ? 1 : 0,
  );
};

/** Adds which networks are available. */
export const availabilityMetric = (registry: MetricsRegistry, states: () => NetworkStates | null): void =>
  computedMetric(registry, {
    name: 'chain_available',
    help: '1 while new orders may show addresses on a network; 0 while nobody reads it at its tip',
    labels: ['network'],
    values: () =>
      [...(states() ?? [])].map(([network, { isAvailable }]) => [{ network }, isAvailable ? 1 : 0] as const),
  });
