import { Registry } from 'prom-client';
import { createMetrics } from './metrics.ts';

const textWith = async (query: () => Promise<never>) => {
  const registry = new Registry();
  createMetrics({
    registry,
    db: { query },
    counts: () => ({ leased: 3, inFlight: 0, unrecorded: 0 }),
    endpoints: () => [],
    now: () => new Date(0),
  });
  return registry.metrics();
};

test('shows the other metrics while PostgreSQL is unavailable', async () => {
  const stopped = Object.assign(new Error('the database system is shutting down'), { code: '57P03' });
  const text = await textWith(() => Promise.reject(stopped));
  expect(text).toMatch(/^webhook_deliveries_held 3$/m);
  expect(text).toMatch(/^webhook_deliveries_due Nan$/im);
  expect(text).toMatch(/^webhook_oldest_due_age_seconds Nan$/im);
});

test('reports a bug as an error', () =>
  expect(textWith(() => Promise.reject(new TypeError('no such column')))).rejects.toThrow(TypeError));
