import type { EndpointReport } from './delivery/endpoint.ts';
import { createMetrics } from './metrics.ts';

const now = new Date('2026-01-31T12:00:00.000Z');
const nothingDue = { query: async () => ({ rows: [{ due: '0', oldest: null }] }) } as never;

const textOf = (endpoints: () => EndpointReport[]) =>
  createMetrics({
    db: nothingDue,
    counts: () => ({ held: 0, inFlight: 0, unrecorded: 0 }),
    endpoints,
    now: () => now,
  });
const held = (index: number): EndpointReport => ({
  webhookId: `whk_${index}`,
  state: 'held',
  heldUntilMs: now.getTime() + index * 1_000,
});
const seriesIn = (text: string) => text.split('\n').filter((line) => line.startsWith('webhook_endpoint_held_seconds{'));

test('endpoints are counted by how they stand, and only a held one is named', async () => {
  const metrics = textOf(() => [
    { webhookId: 'whk_a', state: 'sound', heldUntilMs: 0 },
    { webhookId: 'whk_b', state: 'failing', heldUntilMs: 0 },
    held(30),
  ]);
  const text = await metrics.text();
  for (const [state, count] of Object.entries({ sound: 1, slow: 0, failing: 1, probed: 0, held: 1 }))
    expect(text).toContain(`webhook_endpoints{state="${state}"} ${count}\n`);
  expect(seriesIn(text)).toEqual(['webhook_endpoint_held_seconds{webhook_id="whk_30"} 30']);
});

test('however many are held, a hundred are named, and none that no longer is', async () => {
  let endpoints = Array.from({ length: 5_000 }, (_, index) => held(index + 1));
  const metrics = textOf(() => endpoints);
  const series = seriesIn(await metrics.text());
  expect(series).toHaveLength(100);
  expect(series[0]).toContain('whk_5000');
  endpoints = [held(7)];
  expect(seriesIn(await metrics.text())).toHaveLength(1);
});
