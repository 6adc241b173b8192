import { Registry } from 'prom-client';
import type { EndpointReport } from './attempts/endpoint.ts';
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
  expect(text).toMatch(/^webhook_deliveries_leased 3$/m);
  expect(text).toMatch(/^webhook_deliveries_due Nan$/im);
  expect(text).toMatch(/^webhook_oldest_due_age_seconds Nan$/im);
});

test('reports a bug as an error', () =>
  expect(textWith(() => Promise.reject(new TypeError('no such column')))).rejects.toThrow(TypeError));

const nothingDue = { query: async () => ({ rows: [{ due: '0', oldest: null }] }) } as never;

const registryOf = (endpoints: () => EndpointReport[]) => {
  const registry = new Registry();
  createMetrics({
    registry,
    db: nothingDue,
    counts: () => ({ leased: 0, inFlight: 0, unrecorded: 0 }),
    endpoints,
    now: () => new Date(0),
  });
  return registry;
};
const open = (index: number): EndpointReport => ({
  webhookId: `whk_${index}`,
  state: 'open',
  openForMs: index * 1_000,
});
const seriesIn = (text: string) => text.split('\n').filter((line) => line.startsWith('webhook_endpoint_open_seconds{'));

test('counts endpoints by state, and names only those whose circuit breaker is open', async () => {
  const registry = registryOf(() => [
    { webhookId: 'whk_a', state: 'healthy', openForMs: 0 },
    { webhookId: 'whk_b', state: 'failing', openForMs: 0 },
    open(30),
  ]);
  const text = await registry.metrics();
  for (const [state, count] of Object.entries({ healthy: 1, slow: 0, failing: 1, 'half-open': 0, open: 1 }))
    expect(text).toContain(`webhook_endpoints{state="${state}"} ${count}\n`);
  expect(seriesIn(text)).toEqual(['webhook_endpoint_open_seconds{webhook_id="whk_30"} 30']);
});

test('names at most a hundred open endpoints, and none that has closed', async () => {
  let endpoints = Array.from({ length: 5_000 }, (_, index) => open(index + 1));
  const registry = registryOf(() => endpoints);
  const series = seriesIn(await registry.metrics());
  expect(series).toHaveLength(100);
  expect(series[0]).toContain('whk_5000');
  endpoints = [open(7)];
  expect(seriesIn(await registry.metrics())).toHaveLength(1);
});
