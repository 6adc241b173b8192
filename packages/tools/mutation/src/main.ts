import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { alignedColumns } from '@cpg/platform';
import { GROUPS, SAMPLE, WORKERS } from './groups.ts';
import { measure, type Measured } from './measure.ts';
import { oneLine } from './mutant.ts';

const SHOWN = 60;

/** A row for each group: places tried, and how many of their changes a test noticed. */
const printTable = (results: readonly Measured[]): void => {
  const rows = results.map(({ name, tried, survivors, timeouts, untested }) => [
    name,
    String(tried),
    tried === 0 ? '-' : `${Math.round((100 * (tried - survivors.length)) / tried)} %`,
    String(timeouts),
    String(untested),
  ]);
  console.log(
    `\n${alignedColumns([['group', 'places tried', 'killed', 'by time-outs', 'reached by no test'], ...rows])}`,
  );
};

/** Each change that no test noticed, and the entries of equivalent.json that name no change. */
const printSurvivors = (results: readonly Measured[]): void => {
  for (const { name, survivors, unmatched } of results) {
    if (survivors.length > 0) console.log(`\nsurvivors of ${name}`);
    for (const { file, line, operator, before, after, lineText, isReached } of survivors) {
      const change = `${shortened(before)} -> ${shortened(after) || '(left out)'}`;
      console.log(`${file}:${line}  ${operator}  ${change}${isReached ? '' : '  (reached by no test)'}`);
      if (oneLine(before) !== lineText) console.log(`    ${lineText}`);
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

const USAGE = `usage: npm run test:mutation -- [${Object.keys(GROUPS).join(' | ')} | file or folder] [--seed N] [--sample N] [--workers N]`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, sample: { type: 'string' }, workers: { type: 'string' } },
});
const numberOf = (name: 'seed' | 'sample' | 'workers', otherwise: number): number => {
  const text = values[name] ?? String(otherwise);
  if (/^\d{1,9}$/.test(text)) return Number(text);
  console.error(`--${name} is a number without sign, not ${text}\n${USAGE}`);
  process.exit(2);
};

const seed = numberOf('seed', Math.floor(Math.random() * 1e9));
const names = positionals.length > 0 ? positionals : Object.keys(GROUPS);
const unknown = names.find((name) => !GROUPS[name] && !existsSync(name));
if (unknown !== undefined) {
  console.error(`there is no group, file or folder ${unknown}\n${USAGE}`);
  process.exit(2);
}
console.log(`seed ${seed}`);
const options = {
  seed,
  sample: numberOf('sample', SAMPLE),
  workers: Math.max(1, numberOf('workers', WORKERS)),
  checkout: process.cwd(),
};
const results = [];
for (const name of names) results.push(await measure({ ...options, name, paths: GROUPS[name] ?? [name] }));
printTable(results);
printSurvivors(results);
