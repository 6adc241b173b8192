import { alignedColumns } from '@cpg/platform';

/** A goal, and whether it is met. */
export interface Goal {
  readonly text: string;
  readonly met: boolean;
}

export interface Row {
  readonly measure: string;
  readonly measured: string;
  readonly goal?: Goal | undefined;
  /** The baseline, and the ratio of the measured value to it. */
  readonly baseline?: { readonly text: string; readonly ratio: number };
}

/** The goal that `value` is at least `limit`. `unit` follows the number. */
export const atLeast = (value: number, limit: number, unit: string): Goal => ({
  text: `>= ${limit}${unit}`,
  met: value >= limit,
});

/** The goal that `value` is at most `limit`. `unit` follows the number. */
export const atMost = (value: number, limit: number, unit: string): Goal => ({
  text: `<= ${limit}${unit}`,
  met: value <= limit,
});

export const printReport = (rows: readonly Row[]): void => {
  const cells = rows.map(({ measure, measured, goal, baseline }) => [
    measure,
    measured,
    goal && measured !== NOT_AVAILABLE ? `${goal.text} ${goal.met ? 'met' : 'MISSED'}` : '',
    baseline?.text ?? '',
    baseline ? `x ${baseline.ratio.toPrecision(2)}` : '',
  ]);
  console.log(alignedColumns([['', 'measured', 'goal', 'baseline', 'ratio'], ...cells]));
};

const NOT_AVAILABLE = 'not available on this system';
const orNotAvailable = (value: number, text: string): string => (Number.isNaN(value) ? NOT_AVAILABLE : text);

export const ms = (value: number): string => orNotAvailable(value, `${value.toPrecision(3)} ms`);
export const mib = (bytes: number): string => orNotAvailable(bytes, `${Math.round(bytes / 2 ** 20)} MiB`);
export const rate = (perSecond: number): string => `${Math.round(perSecond)}/s`;
/** Median and 99th percentile. */
export const both = ({ median, p99 }: { readonly median: number; readonly p99: number }): string =>
  `${ms(median)}, ${ms(p99)}`;
