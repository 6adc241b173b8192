import { computedMetric, counterMetric, type MetricsRegistry } from '@cpg/runtime';
import type { NodeFault } from './chain-source.ts';
import type { ChainProgress } from './watcher.ts';

export interface ChainMetrics {
  /** A node gave no usable answer. */
  readonly nodeFailed: (network: string, fault: NodeFault) => void;
}

/** The metrics of the chains that this process reads, by network. */
export const chainMetrics = (
  registry: MetricsRegistry,
  progress: () => ReadonlyMap<string, ChainProgress>,
): ChainMetrics => {
  const metric = (name: string, help: string, value: (progress: ChainProgress) => number, isCounter = false) =>
    computedMetric(registry, {
      name,
      help,
      labels: ['network'],
      isCounter,
      values: () => [...progress()].map(([network, each]) => [{ network }, value(each)] as const),
    });
  metric('chain_tip_height', 'The highest block that the nodes have', ({ tip }) => tip);
  metric('chain_read_height', 'The last block that was read', ({ height }) => height);
  metric('chain_lag_blocks', 'Blocks that the nodes have and that were not read', ({ tip, height }) =>
    Math.max(0, tip - height),
  );
  metric('chain_watched_addresses', 'Addresses whose transfers are looked for', ({ watched }) => watched ?? NaN);
  metric(
    'chain_read_timestamp_seconds',
    'When all that the nodes had was last read and reported; before that, when the process began to read',
    ({ readAt }) => readAt.getTime() / 1_000,
  );
  metric('chain_halted', '1 while an operator has to act', ({ state }) => (state === 'halted' ? 1 : 0));
  metric('chain_reorganizations_total', 'Reorganizations followed', ({ reorganizations }) => reorganizations, true);

  const count = counterMetric(registry, {
    name: 'chain_node_faults_total',
    help: 'Questions to a node of a chain without a usable answer',
    labelNames: ['network', 'fault'],
  });
  return { nodeFailed: (network, fault) => count({ network, fault }) };
};
