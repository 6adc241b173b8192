import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JestRun, Project } from './jest-process.ts';
import type { JestRunner } from './jest-runner.ts';
import { type Located, mutate } from './mutant.ts';

export interface Numbered extends Located {
  readonly id: number;
}

export interface TestFile {
  readonly file: string;
  readonly ms: number;
}

/** Tests of one kind, which try the changes that survive the stage before. */
export interface Stage {
  readonly name: string;
  readonly project: Project;
  /** Whether they are in a package that is changed. */
  readonly isNear: boolean;
}

type End = 'survived' | 'failed' | 'timeout' | 'crash';

export interface Trial {
  readonly stage: Stage;
  readonly changes: readonly Numbered[];
  /** The tests that reach each change, by its id. */
  readonly reaching: ReadonlyMap<number, readonly TestFile[]>;
  readonly textOf: ReadonlyMap<string, string>;
  /** Each runner has a copy of the checkout. */
  readonly copies: readonly string[];
  readonly runners: readonly Pick<JestRunner, 'run'>[];
}

const SLACK_MS = 20_000;
/** Integration tests of one mutant take at most so long without the mutant. */
const MAX_INTEGRATION_MS = 60_000;

/** How the tests end on each change, by its id. Each copy has one change at a time. */
export const tryChanges = async (trial: Trial): Promise<ReadonlyMap<number, End>> => {
  const ends = new Map<number, End>();
  const tryAll = async (queue: Numbered[], copy: string, runner: Pick<JestRunner, 'run'>, patience = 1) => {
    for (let change = queue.shift(); change; change = queue.shift()) {
      const source = trial.textOf.get(change.file)!;
      writeFileSync(join(copy, change.file), mutate(source, change));
      ends.set(change.id, await endOf(runner, trial.stage, change, trial.reaching.get(change.id)!, patience));
      writeFileSync(join(copy, change.file), source);
    }
  };
  const queue = [...trial.changes];
  await Promise.all(trial.copies.map((copy, index) => tryAll(queue, copy, trial.runners[index]!)));
  // On a busy machine, runs also end by a time-out or a crash without any fault: these changes are tried again, alone
  // and with twice the time.
  const unclear = trial.changes.filter(({ id }) => ['timeout', 'crash'].includes(ends.get(id)!));
  await tryAll(unclear, trial.copies[0]!, trial.runners[0]!, 2);
  return ends;
};

export const countOf = (ends: ReadonlyMap<number, End>, end: End): number =>
  [...ends.values()].filter((other) => other === end).length;

/** How the tests end on this change. Tests beside the file run first. */
const endOf = async (
  runner: Pick<JestRunner, 'run'>,
  { project }: Stage,
  mutant: Numbered,
  tests: readonly TestFile[],
  patience: number,
): Promise<End> => {
  const isBeside = ({ file }: TestFile) => dirname(file) === dirname(mutant.file);
  const inOrder = [...tests].sort((a, b) => Number(isBeside(b)) - Number(isBeside(a)) || a.ms - b.ms);
  let ms = 0;
  const chosen = inOrder.filter((test) => {
    const isFirst = ms === 0;
    ms += test.ms;
    return project === 'unit' || isFirst || ms <= MAX_INTEGRATION_MS;
  });
  // Jest would end the process at the first failure if it were asked to bail.
  for (const part of parts(chosen)) {
    const run: JestRun = { project, tests: part.map(({ file }) => file), workers: 1 };
    const expectedMs = part.reduce((sum, test) => sum + test.ms, 0);
    const outcome = await runner.run(run, patience * (SLACK_MS + expectedMs));
    if (typeof outcome === 'string') return outcome;
    if (outcome.files.some(({ failed }) => failed)) return 'failed';
  }
  return 'survived';
};

/** The first two tests, the next four, and so on: the first ones notice most changes. */
const parts = <T>(tests: readonly T[]): T[][] => {
  const result: T[][] = [];
  for (let from = 0, size = 2; from < tests.length; from += size, size *= 2)
    result.push(tests.slice(from, from + size));
  return result;
};
