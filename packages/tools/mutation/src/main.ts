import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { GROUPS, SAMPLE } from './groups.ts';
import { measure } from './measure.ts';
import { printSurvivors, printTable } from './report.ts';

const USAGE = `usage: npm run test:mutation -- [${Object.keys(GROUPS).join(' | ')} | file or folder] [--seed N] [--sample N]`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, sample: { type: 'string' } },
});
const numberOf = (name: 'seed' | 'sample', otherwise: number): number => {
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
const results = [];
for (const name of names) {
  const paths = GROUPS[name] ?? [name];
  results.push(await measure({ name, paths, seed, sample: numberOf('sample', SAMPLE), checkout: process.cwd() }));
}
printTable(results);
printSurvivors(results);
