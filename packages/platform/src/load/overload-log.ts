import type { LoadClass } from './load-class.ts';

export interface OverloadLog {
  /** Counts a refused request. */
  readonly refused: (loadClass: LoadClass) => void;
  /** Refused requests by class since the start. */
  readonly totals: () => ReadonlyMap<LoadClass, number>;
}

interface OverloadLogOptions {
  readonly nowMs?: () => number;
  readonly later?: (run: () => void, ms: number) => void;
}

const QUIET_MS = 5_000;

const laterUnref = (run: () => void, ms: number): void => void setTimeout(run, ms).unref();

/** Logs each overload twice: when it begins, and once nothing was refused for 5 s, with its time and the number of
 *  refused requests. */
export const createOverloadLog = (
  log: { readonly warn: (fields: object, message: string) => void },
  { nowMs = () => performance.now(), later = laterUnref }: OverloadLogOptions = {},
): OverloadLog => {
  const totals = new Map<LoadClass, number>();
  let overload: { readonly beganMs: number; lastMs: number; refused: number } | null = null;

  const endWhenQuiet = () => {
    const { beganMs, lastMs, refused } = overload!;
    const quietMs = nowMs() - lastMs;
    if (quietMs < QUIET_MS) return later(endWhenQuiet, QUIET_MS - quietMs);
    overload = null;
    log.warn({ overloadMs: Math.round(lastMs - beganMs), refused }, 'overload ended');
  };
  return {
    refused: (loadClass) => {
      totals.set(loadClass, (totals.get(loadClass) ?? 0) + 1);
      if (!overload) {
        overload = { beganMs: nowMs(), lastMs: nowMs(), refused: 0 };
        log.warn({ loadClass }, 'overload began');
        later(endWhenQuiet, QUIET_MS);
      }
      overload.lastMs = nowMs();
      overload.refused += 1;
    },
    totals: () => totals,
  };
};
