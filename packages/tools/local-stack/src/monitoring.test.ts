import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const found = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, name]) => name!))].sort();

const alerts = read('deploy/monitoring/chain-alerts.yml');
const serviceAlerts = read('deploy/monitoring/service-alerts.yml');
const guide = read('docs/operators/alarms.md');
const dashboard = read('deploy/monitoring/chains-dashboard.json');
const metrics = found(read('services/payments/src/chains/chain-metrics.ts'), /'(chain_[a-z_]+)'/g);

test('the dashboard shows every metric of the chains, and no other', () => {
  expect(found(JSON.stringify(JSON.parse(dashboard)), /\b(chain_[a-z_]+)/g)).toEqual(metrics);
});

test('the dashboard and the alarms show every metric of unclaimed money', () => {
  const unclaimed = found(read('services/payments/src/matching/unclaimed-payments.ts'), /'(unclaimed_[a-z_]+)'/g);
  expect(unclaimed.length).toBeGreaterThan(1);
  for (const shown of [dashboard, serviceAlerts]) expect(found(shown, /\b(unclaimed_[a-z_]+)/g)).toEqual(unclaimed);
});

test('alarms ask for metrics that exist', () => {
  const asked = found(alerts, /\b(chain_[a-z_]+)/g);
  expect(asked.length).toBeGreaterThan(4);
  expect(asked.filter((name) => !metrics.includes(name))).toEqual([]);
});

test('the guide for operators says what to do about each alarm', () => {
  expect(found(guide, /^### (\w+)$/gm)).toEqual(found(alerts + serviceAlerts, /- alert: (\w+)/g));
});

test('each alarm has a test that makes it fire', () => {
  const tests = read('deploy/monitoring/alerts.test.yml');
  const names = found(alerts + serviceAlerts, /- alert: (\w+)/g);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(tests))).toEqual([]);
});
