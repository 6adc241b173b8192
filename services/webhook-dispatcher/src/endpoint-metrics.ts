import { Gauge, type Registry } from 'prom-client';
import type { EndpointReport, EndpointState } from './attempts/endpoint.ts';

/** How many open endpoints get a series of their own, so that an outage of many does not overload Prometheus. */
const MAX_OPEN_SERIES = 100;

/** The values of the label `state` of `webhook_endpoints`. */
const STATE_LABELS: Record<EndpointState, string> = {
  healthy: 'sound',
  slow: 'slow',
  failing: 'failing',
  'half-open': 'probed',
  open: 'held',
};

/** Adds the metrics of endpoint states and open circuit breakers. */
export const addEndpointMetrics = (registry: Registry, endpoints: () => readonly EndpointReport[]): void => {
  new Gauge({
    name: 'webhook_endpoints',
    help: 'Endpoints that this instance has in memory, by state; held: circuit breaker open, probed: half-open',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      const states = endpoints().map(({ state }) => state);
      for (const [state, label] of Object.entries(STATE_LABELS))
        this.set({ state: label }, states.filter((other) => other === state).length);
    },
  });
  new Gauge({
    name: 'webhook_endpoint_held_seconds',
    help: `Time until an open circuit breaker lets an attempt through; the ${MAX_OPEN_SERIES} longest`,
    labelNames: ['webhook_id'] as const,
    registers: [registry],
    collect() {
      this.reset();
      const open = endpoints().filter(({ state }) => state === 'open');
      const longest = open.sort((a, b) => b.openForMs - a.openForMs).slice(0, MAX_OPEN_SERIES);
      for (const { webhookId, openForMs } of longest) this.set({ webhook_id: webhookId }, openForMs / 1_000);
    },
  });
};
