import { Counter, Gauge, type Registry } from 'prom-client';
import type { LoadLimits } from './load-class.ts';
import type { OverloadLog } from './overload-log.ts';

/** Adds the metrics of the limits and of what they refused, each by the class of the route. */
export const addLoadMetrics = (registry: Registry, limits: LoadLimits, overload: Pick<OverloadLog, 'totals'>): void => {
  const metric = (name: string, help: string) => ({ name, help, labelNames: ['class'], registers: [registry] });
  new Counter({
    ...metric('overload_refused_total', 'Requests refused because the service was full'),
    collect() {
      this.reset();
      for (const [loadClass, refused] of overload.totals()) this.inc({ class: loadClass }, refused);
    },
  });
  new Gauge({
    ...metric('concurrency_limit', 'Most requests in progress that the service admits now'),
    collect() {
      for (const [loadClass, { limit }] of Object.entries(limits)) this.set({ class: loadClass }, limit());
    },
  });
  new Gauge({
    ...metric('requests_in_progress', 'Admitted requests that have not ended'),
    collect() {
      for (const [loadClass, { inProgress }] of Object.entries(limits)) this.set({ class: loadClass }, inProgress());
    },
  });
};
