import { createServiceMetrics } from '@cpg/platform';
import { unclaimedMetrics } from './unclaimed-payments.ts';

/** The text of all metrics when the database fails so. */
const textWith = (code: string) => {
  const registry = createServiceMetrics({ totals: () => ({ postgres: { refused: 0, outages: 1, isOngoing: true } }) });
  const query = () => Promise.reject(Object.assign(new Error('no answer'), { code }));
  unclaimedMetrics(registry, { query });
  return registry.metrics();
};

test('without PostgreSQL nothing is said of unclaimed money, and the other metrics are shown', async () => {
  const text = await textWith('57P03');
  expect(text).toContain('dependency_up{dependency="postgres"} 0');
  expect(text).toContain('# TYPE unclaimed_payments gauge');
  expect(text).not.toMatch(/^unclaimed_/m);
});

test('a wrong question is no outage', () => expect(textWith('22P02')).rejects.toThrow('no answer'));
