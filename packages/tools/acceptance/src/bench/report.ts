/** A goal, and whether it is met. */
export interface Goal {
  readonly text: string;
  readonly met: boolean;
}

export interface Row {
  readonly measure: string;
  readonly measured: string;
  readonly goal?: Goal;
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
    goal ? `${goal.text} ${goal.met ? 'met' : 'MISSED'}` : '',
    baseline?.text ?? '',
    baseline ? `x ${baseline.ratio.toPrecision(2)}` : '',
  ]);
  const table = [['', 'measured', 'goal', 'baseline', 'ratio'], ...cells];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
};

export const ms = (value: number): string => `${value.toPrecision(3)} ms`;
export const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
