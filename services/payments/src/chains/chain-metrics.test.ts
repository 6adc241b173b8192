import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServiceMetrics } from '@cpg/platform';
import { availabilityMetric, chainMetrics } from './chain-metrics.ts';
import type { ChainProgress } from './reading/chain-progress.ts';

const reading: ChainProgress = {
  tip: 120,
  height: 100,
  watched: 7,
  reorganizations: 2,
  recheckLag: 8,
  unsettled: { readings: 1, quorum: 4 },
  failingReports: 3,
  readAt: new Date(9_500),
  state: 'reading',
  stalled: null,
  nodes: [{ number: 2, height: 119, hash: 'b', time: new Date(8_000), seenAt: new Date(9_000), isUsed: false }],
};

test('shows how far each network is read, and what its nodes failed to answer', async () => {
  const registry = createServiceMetrics({ totals: () => ({}) });
  let progress = new Map([
    ['bitcoin', reading],
    ['ethereum', { ...reading, tip: 90, state: 'halted' as const, stalled: 'no node is current', nodes: [] }],
  ]);
  const urls = { bitcoin: ['http://a', 'http://b'] };
  const { nodeFailed, blockUnproven, readingCounts, reportRefused } = chainMetrics(registry, () => progress, urls);
  readingCounts('bitcoin').missed(2);
  readingCounts('bitcoin').misread(1);
  readingCounts('bitcoin').unexplained();
  reportRefused('bitcoin');
  nodeFailed('bitcoin', 2, 'timeout');
  nodeFailed('bitcoin', 2, 'timeout');
  nodeFailed('ethereum', 1, 'refused');
  blockUnproven('ethereum', 'header');
  const lines = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('chain_'));
  expect(await lines()).toEqual([
    'chain_tip_height{network="bitcoin"} 120',
    'chain_tip_height{network="ethereum"} 90',
    'chain_read_height{network="bitcoin"} 100',
    'chain_read_height{network="ethereum"} 100',
    'chain_lag_blocks{network="bitcoin"} 20',
    'chain_lag_blocks{network="ethereum"} 0',
    'chain_watched_addresses{network="bitcoin"} 7',
    'chain_watched_addresses{network="ethereum"} 7',
    'chain_read_timestamp_seconds{network="bitcoin"} 9.5',
    'chain_read_timestamp_seconds{network="ethereum"} 9.5',
    'chain_halted{network="bitcoin"} 0',
    'chain_halted{network="ethereum"} 1',
    'chain_reports_failing{network="bitcoin"} 3',
    'chain_reports_failing{network="ethereum"} 3',
    'chain_stalled{network="bitcoin"} 0',
    'chain_stalled{network="ethereum"} 1',
    'chain_reorganizations_total{network="bitcoin"} 2',
    'chain_reorganizations_total{network="ethereum"} 2',
    'chain_recheck_lag_blocks{network="bitcoin"} 8',
    'chain_recheck_lag_blocks{network="ethereum"} 8',
    'chain_unsettled_transfers{network="bitcoin",reason="readings"} 1',
    'chain_unsettled_transfers{network="bitcoin",reason="quorum"} 4',
    'chain_unsettled_transfers{network="ethereum",reason="readings"} 1',
    'chain_unsettled_transfers{network="ethereum",reason="quorum"} 4',
    'chain_node_height{network="bitcoin",node="2"} 119',
    'chain_node_block_timestamp_seconds{network="bitcoin",node="2"} 8',
    'chain_node_seen_timestamp_seconds{network="bitcoin",node="2"} 9',
    'chain_node_used{network="bitcoin",node="2"} 0',
    'chain_missed_transfers_total{network="bitcoin",node="1"} 0',
    'chain_missed_transfers_total{network="bitcoin",node="2"} 1',
    'chain_misread_transfers_total{network="bitcoin",node="1"} 1',
    'chain_misread_transfers_total{network="bitcoin",node="2"} 0',
    'chain_unexplained_balances_total{network="bitcoin"} 1',
    'chain_reports_refused_total{network="bitcoin"} 1',
    'chain_node_faults_total{network="bitcoin",node="2",fault="timeout"} 2',
    'chain_node_faults_total{network="ethereum",node="1",fault="refused"} 1',
    'chain_unproven_blocks_total{network="ethereum",part="header"} 1',
  ]);
  // Another process became the leader of the networks.
  progress = new Map();
  const counters = 'node_faults|unproven_blocks|(missed|misread)_transfers|unexplained_balances|reports_refused';
  for (const line of await lines()) expect(line).toMatch(new RegExp(`^chain_(${counters})_total`));
});

test('shows which networks are available', async () => {
  const registry = createServiceMetrics({ totals: () => ({}) });
  const states = new Map([
    ['ethereum', { isAvailable: false as const, reason: 'its reading halted', isExpected: false }],
    ['bitcoin', { isAvailable: true as const, forMs: 1 }],
  ]);
  availabilityMetric(registry, () => states);
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('chain_'));
  expect(lines).toEqual(['chain_available{network="ethereum"} 0', 'chain_available{network="bitcoin"} 1']);
});

const MONITORING = join(import.meta.dirname, '../../../../deploy/monitoring');

test.each(['chain-alerts.yml', 'chains-dashboard.json'])(
  '%s names only metrics that payments exports',
  async (file) => {
    const registry = createServiceMetrics({ totals: () => ({}) });
    const counts = chainMetrics(registry, () => new Map([['bitcoin', reading]]), { bitcoin: ['http://a'] });
    counts.nodeFailed('bitcoin', 1, 'timeout');
    counts.blockUnproven('bitcoin', 'header');
    availabilityMetric(registry, () => new Map([['bitcoin', { isAvailable: true, forMs: 1 }]]));
    const exported = new Set((await registry.metrics()).match(/^chain_\w+/gm));
    const named = new Set(readFileSync(join(MONITORING, file), 'utf8').match(/\bchain_\w+/g));
    expect(named.size).toBeGreaterThan(4);
    expect([...named].filter((name) => !exported.has(name))).toEqual([]);
  },
);
