import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runChaos } from './chaos/run.ts';

const numberIn = (name: string, byDefault: number): number => {
  const value = process.env[name];
  if (value === undefined || value === '') return byDefault;
  const number = Number(value);
  if (Number.isInteger(number) && number >= 1 && number < 2 ** 31) return number;
  console.error(`${name} must be a whole number of at least 1, not "${value}"`);
  process.exit(2);
};

const flagsIn = (args: string[]): { discover?: boolean; scale?: boolean } => {
  try {
    return parseArgs({ args, options: { discover: { type: 'boolean' }, scale: { type: 'boolean' } } }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\nusage: npm run chaos [-- --discover --scale]`);
    process.exit(2);
  }
};

const flags = flagsIn(process.argv.slice(2));
const seconds = numberIn('SECONDS', 60);
const seed = numberIn('SEED', randomInt(1, 2 ** 31));
const began = Date.now();
const log = (line: string) => console.log(`${((Date.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${line}`);

const { orders, disruptions, attempts, faults } = await runChaos({ seconds, seed, ...flags, log });
for (const fault of faults) log(fault);
log(
  `${orders} orders, ${attempts} webhook attempts, ${disruptions} disruptions: ${faults.length} faults (SEED=${seed})`,
);
process.exitCode = faults.length > 0 ? 1 : 0;
