import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { AnyApp } from './http/any-app.ts';
import { requireToken } from './http/callers.ts';
import type { Outages, OutageTotals } from './outages/outages.ts';

/** Adds the metrics of outages, each by dependency. */
const addOutageMetrics = (registry: Registry, outages: Pick<Outages, 'totals'>): void => {
  const metric = (name: string, help: string) => ({ name, help, labelNames: ['dependency'], registers: [registry] });
  const collect = (set: (dependency: string, totals: OutageTotals) => void) => {
    for (const [dependency, totals] of Object.entries(outages.totals())) set(dependency, totals);
  };
  new Counter({
    ...metric('refused_requests_total', 'Requests answered 503 because a dependency was unavailable'),
    collect() {
      this.reset();
      collect((dependency, { refused }) => this.inc({ dependency }, refused));
    },
  });
  new Counter({
    ...metric('outages_total', 'Outages of a dependency that began'),
    collect() {
      this.reset();
      collect((dependency, { outages: count }) => this.inc({ dependency }, count));
    },
  });
  new Gauge({
    ...metric('dependency_up', '1 while a dependency is available, 0 during its outage'),
    collect() {
      collect((dependency, { isOngoing }) => this.set({ dependency }, isOngoing ? 0 : 1));
    },
  });
};

export type MetricsRegistry = Registry;

/** The Prometheus metrics that every service has: those of the process and of outages. */
export const createServiceMetrics = (outages: Pick<Outages, 'totals'>): MetricsRegistry => {
  const registry = new Registry();
  // The default, 10 ms, wakes each process 100 times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  addOutageMetrics(registry, outages);
  return registry;
};

export interface ComputedMetric {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** A counter only grows while the process runs. Default: a gauge. */
  readonly isCounter?: boolean;
  /** The value for each combination of labels. */
  readonly values: () => MetricValues | Promise<MetricValues>;
}

type MetricValues = Iterable<readonly [Record<string, string>, number]>;

/** Adds a metric whose values are computed each time they are asked for. */
export const computedMetric = (
  registry: Registry,
  { name, help, labels, isCounter = false, values }: ComputedMetric,
): void => {
  const options = { name, help, labelNames: [...labels], registers: [registry] };
  if (isCounter)
    new Counter({
      ...options,
      async collect() {
        const current = await values();
        this.reset();
        for (const [label, value] of current) this.inc(label, value);
      },
    });
  else
    new Gauge({
      ...options,
      async collect() {
        const current = await values();
        this.reset();
        for (const [label, value] of current) this.set(label, value);
      },
    });
};

/** Adds the age of the oldest event that a subscription has received and not completed, by checkpoint. */
export const lagMetric = (registry: Registry, lags: () => Iterable<readonly [string, number]>): void =>
  computedMetric(registry, {
    name: 'subscription_lag_seconds',
    help: 'Age of the oldest event received and not completed, for each shard that this process leads',
    labels: ['checkpoint'],
    values: () => [...lags()].map(([checkpoint, seconds]) => [{ checkpoint }, seconds] as const),
  });

interface CounterOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  /** Counted from 0 on. Prometheus does not see the first increase of others. */
  readonly known?: readonly Record<L, string>[];
}

/** Adds a counter, and returns the function that counts: one more by default. */
export const counterMetric = <L extends string>(
  registry: Registry | undefined,
  { name, help, labelNames, known = [] }: CounterOptions<L>,
): ((labels: Record<L, string>, count?: number) => void) => {
  const counter = new Counter({ name, help, labelNames: [...labelNames], registers: registry ? [registry] : [] });
  for (const labels of known) counter.inc(labels, 0);
  return (labels, count = 1) => counter.inc(labels, count);
};

export interface ServedMetrics {
  readonly registry: MetricsRegistry;
  /** METRICS_TOKEN: what Prometheus sends, and good for nothing else. */
  readonly tokens: readonly string[];
}

/** `GET /metrics` answers a scraper with the metrics in the format of Prometheus. */
export const metricsRoute = (app: AnyApp, { registry, tokens }: ServedMetrics): void => {
  void app.register(async (scraped: AnyApp) => {
    requireToken(scraped, tokens);
    scraped.get('/metrics', { schema: { hide: true }, config: { load: 'health' } }, async (_request, reply) =>
      reply.type(registry.contentType).send(await registry.metrics()),
    );
  });
};
