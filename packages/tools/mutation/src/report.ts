import { oneLine } from './equivalents.ts';
import type { Measured } from './measure.ts';

const SHOWN = 60;

/** A row for each group: places tried, and how many of their changes a test noticed. */
export const printTable = (results: readonly Measured[]): void => {
  const rows = results.map(({ name, tried, survivors, untested }) => [
    name,
    String(tried),
    tried === 0 ? '-' : `${Math.round((100 * (tried - survivors.length)) / tried)} %`,
    String(untested),
  ]);
  const table = [['group', 'places tried', 'killed', 'reached by no test'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  console.log('');
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('   ')
        .trimEnd(),
    );
};

/** Each change that no test noticed, and the entries of equivalent.json that name no change. */
export const printSurvivors = (results: readonly Measured[]): void => {
  for (const { name, survivors, unmatched } of results) {
    if (survivors.length > 0) console.log(`\nsurvivors of ${name}`);
    for (const { file, line, operator, before, after, lineText, isReached } of survivors) {
      const change = `${shortened(before)} -> ${shortened(after) || '(left out)'}`;
      console.log(`${file}:${line}  ${operator}  ${change}${isReached ? '' : '  (reached by no test)'}`);
      if (!lineText.includes(oneLine(before)) || oneLine(before) !== lineText) console.log(`    ${lineText}`);
    }
    for (const { file, line, before, after } of unmatched) {
      console.log(`equivalent.json names a change that ${file} does not have: ${line}  ${before} -> ${after}`);
    }
  }
};

const shortened = (text: string): string => {
  const line = oneLine(text);
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
};
