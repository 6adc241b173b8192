import { lagMetric, type MetricsRegistry } from '@cpg/platform';
import type { NoteSigner } from '@cpg/transparency-log';
import { type EventMoverOptions, startEventMover } from './event-mover.ts';
import type { MeasuredWork } from './leader-rounds.ts';
import { startLogKeeper } from './transparency-log/log-keeper.ts';

export interface AuditOptions extends EventMoverOptions {
  readonly metrics: MetricsRegistry;
  /** Without it, no transparency log is kept. */
  readonly signer?: NoteSigner | undefined;
  readonly now: () => Date;
}

/** Starts what makes history provable: the streams of merchants and the transparency log. */
export const startAudit = ({ metrics, signer, ...options }: AuditOptions): { readonly stop: () => Promise<void> } => {
  const work: Readonly<Record<string, MeasuredWork>> = {
    'merchant events': startEventMover(options),
    ...(signer && { 'transparency log': startLogKeeper({ ...options, signer }) }),
  };
  lagMetric(metrics, () =>
    Object.entries(work).flatMap(([name, { lagSeconds }]) => {
      const seconds = lagSeconds();
      return seconds === null ? [] : [[name, seconds] as const];
    }),
  );
  return { stop: async () => void (await Promise.all(Object.values(work).map(({ stop }) => stop()))) };
};
