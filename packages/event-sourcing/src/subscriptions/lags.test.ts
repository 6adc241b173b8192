import { createServiceMetrics } from '@cpg/platform';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { createLags } from './lags.ts';

const recordedAt = (second: number) => ({ event: { created: new Date(second * 1_000) } }) as AllStreamResolvedEvent;

test('shows the age of the oldest event of each led shard that is not completed', async () => {
  const registry = createServiceMetrics({ totals: () => ({}) });
  const lags = createLags(registry, () => 100_000);
  const shown = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('subscription_lag'));
  const [relay, projection] = [lags.measure('relay-1-of-2'), lags.measure('projection')];
  relay.received([recordedAt(97), recordedAt(99)]);
  relay.received([recordedAt(99.5)]);
  expect(await shown()).toEqual([
    'subscription_lag_seconds{checkpoint="relay-1-of-2"} 3',
    'subscription_lag_seconds{checkpoint="projection"} 0',
  ]);
  relay.completed();
  projection.end();
  expect(await shown()).toEqual(['subscription_lag_seconds{checkpoint="relay-1-of-2"} 0']);
});
