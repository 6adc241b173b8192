export interface Row {
  readonly measure: string;
  readonly measured: string;
  /** What it should be, and whether it is. */
  readonly goal?: { readonly text: string; readonly met: boolean };
  /** What it is compared with, and how many times that it is. */
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
