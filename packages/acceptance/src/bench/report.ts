export interface Row {
  readonly measure: string;
  readonly measured: string;
  /** The goal, and whether it is met. */
  readonly goal?: { readonly text: string; readonly met: boolean };
  /** The baseline, and the ratio of the measured value to it. */
  readonly baseline?: { readonly text: string; readonly ratio: number };
}

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
