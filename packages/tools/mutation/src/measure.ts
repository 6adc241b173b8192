import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { copyCheckout, filesOf } from './copy.ts';
import { type Equivalent, type Located, mutate, withoutEquivalents, withProbes } from './mutant.ts';
import { isIn, isTried, onePerPlace, randomFrom } from './groups.ts';
import type { JestRun } from './jest-process.ts';
import { JestRunner } from './jest-runner.ts';
import { mutantsOf } from './mutants.ts';
import { Imports } from './related.ts';
import { type Numbered, type Stage, type TestFile, countOf, tryChanges } from './try-changes.ts';
import { typeCheck } from './type-check.ts';

export interface Measurement {
  readonly name: string;
  readonly paths: readonly string[];
  readonly seed: number;
  readonly sample: number;
  /** How many changes are tried at once, each in a copy of the checkout. */
  readonly workers: number;
  readonly checkout: string;
}

interface Survivor extends Located {
  readonly isReached: boolean;
}

export interface Measured {
  readonly name: string;
  readonly tried: number;
  /** Changes that count as killed because the tests did not end, beside another run and then alone. */
  readonly timeouts: number;
  readonly untested: number;
  readonly survivors: readonly Survivor[];
  readonly unmatched: readonly Equivalent[];
}

const STAGES: readonly Stage[] = [
  { name: 'unit tests of the package', project: 'unit', isNear: true },
  { name: 'integration tests of the package', project: 'integration', isNear: true },
  { name: 'unit tests of other packages', project: 'unit', isNear: false },
];

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Everything imports packages/contracts. A rule of it that no test nearer than these notices needs one of its own. */
const MAX_FAR_TESTS = 60;
const FIRST_RUN_MS = 1_800_000;

/** Changes a sample of the places of these paths, one at a time, in copies of the checkout, and runs the tests that
 *  reach each of them. */
export const measure = async ({ name, paths, seed, sample, workers, checkout }: Measurement): Promise<Measured> => {
  const startedAt = performance.now();
  const say = (text: string) =>
    console.log(`${name}: ${text} (${Math.round((performance.now() - startedAt) / 1_000)} s)`);
  const files = filesOf(checkout);
  const sources = files.filter((file) => isIn(file, paths) && isTried(file));
  if (sources.length === 0) throw new Error(`${name} has no source files whose changes are tried`);
  const textOf = new Map(sources.map((file) => [file, readFileSync(join(checkout, file), 'utf8')]));

  const all = sources.flatMap((file) => locatedMutants(file, textOf.get(file)!));
  const { tried: candidates, unmatched } = withoutEquivalents(all, equivalentsIn(checkout, paths));
  const order = onePerPlace(candidates, ({ file, start }) => `${file} ${start}`, randomFrom(seed));
  const mutants = landable(order, sample, realpathSync(checkout), textOf).map((mutant, id) => ({ ...mutant, id }));
  say(`${mutants.length} of ${order.length} places of ${sources.length} files`);

  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'cpg-mutation-'));
  const copies = Array.from({ length: workers }, (_, index) => join(folder, String(index), 'copy'));
  const runners: JestRunner[] = [];
  const cleanUp = async () => {
    await Promise.all(runners.map((runner) => runner.close()));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const interrupted = () => void cleanUp().finally(() => process.exit(130));
  for (const signal of SIGNALS) process.on(signal, interrupted);
  try {
    for (const copy of copies) {
      mkdirSync(copy, { recursive: true });
      copyCheckout(checkout, files, copy);
      runners.push(new JestRunner(copy));
    }
    const imports = new Imports(copies[0]!, files);
    const reached = new Set<number>();
    let left = mutants;
    let timeouts = 0;
    for (const stage of STAGES) {
      if (left.length === 0) break;
      const tests = testsOf(stage, left, imports);
      if (tests.length === 0) continue;
      const reaching = await testsThatReach({
        stage,
        tests,
        left,
        textOf,
        copy: copies[0]!,
        runner: runners[0]!,
        workers,
      });
      const survivors: Numbered[] = left.filter(({ id }) => !reaching.has(id));
      const queue = left.filter(({ id }) => reaching.has(id));
      for (const { id } of queue) reached.add(id);
      say(`${tests.length} ${stage.name} reach ${queue.length} of the changes`);
      const ends = await tryChanges({ stage, changes: queue, reaching, textOf, copies, runners });
      survivors.push(...queue.filter(({ id }) => ends.get(id) === 'survived'));
      const kills = left.length - survivors.length;
      const hangs = countOf(ends, 'timeout');
      timeouts += hangs;
      say(`${kills} killed, ${hangs} of them by a time-out also alone, ${countOf(ends, 'crash')} by a crash`);
      left = survivors;
    }
    const survivors = left.map((mutant) => ({ ...mutant, isReached: reached.has(mutant.id) }));
    return {
      name,
      tried: mutants.length,
      timeouts,
      untested: survivors.filter(({ isReached }) => !isReached).length,
      survivors: survivors.sort((a, b) => a.file.localeCompare(b.file) || a.start - b.start),
      unmatched,
    };
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupted);
    await cleanUp();
  }
};

const locatedMutants = (file: string, source: string): Located[] => {
  const lines = source.split('\n');
  return mutantsOf(file, source).map((mutant) => ({ ...mutant, file, lineText: lines[mutant.line - 1]!.trim() }));
};

/** The first changes that the compiler accepts: the others could not be committed. */
const landable = (
  order: readonly Located[],
  count: number,
  root: string,
  textOf: ReadonlyMap<string, string>,
): Located[] => {
  const accepted: Located[] = [];
  for (let from = 0; from < order.length && accepted.length < count; from += 2 * count) {
    const batch = order.slice(from, from + 2 * count);
    const isAccepted = typeCheck(
      root,
      batch.map((mutant) => ({ file: mutant.file, text: mutate(textOf.get(mutant.file)!, mutant) })),
    );
    for (const [index, mutant] of batch.entries()) {
      if (accepted.length < count && isAccepted(index)) accepted.push(mutant);
    }
  }
  return accepted;
};

const equivalentsIn = (checkout: string, paths: readonly string[]): Equivalent[] => {
  const path = join(checkout, 'packages/tools/mutation/equivalent.json');
  if (!existsSync(path)) return [];
  const entries = JSON.parse(readFileSync(path, 'utf8')) as Equivalent[];
  return entries.filter(({ file }) => isIn(file, paths));
};

/** The tests that import a changed file, directly or indirectly, nearest first. */
const testsOf = ({ project, isNear }: Stage, mutants: readonly Located[], imports: Imports): string[] => {
  const changed = new Set(mutants.map(({ file }) => file));
  const packages = new Set([...changed].map(packageOf));
  const related = [...imports.dependentsOf(changed)].filter(
    (file) =>
      /\.test\.ts$/.test(file) &&
      !/\.extended\.test|\/acceptance\//.test(file) &&
      file.endsWith('.int.test.ts') === (project === 'integration') &&
      packages.has(packageOf(file)) === isNear,
  );
  return isNear ? related : related.slice(0, MAX_FAR_TESTS);
};

/** Runs the tests once, on sources that record which test file reaches which change. */
const testsThatReach = async ({
  stage,
  tests,
  left,
  textOf,
  copy,
  runner,
  workers,
}: {
  readonly stage: Stage;
  readonly tests: readonly string[];
  readonly left: readonly Numbered[];
  readonly textOf: ReadonlyMap<string, string>;
  readonly copy: string;
  readonly runner: JestRunner;
  readonly workers: number;
}): Promise<Map<number, TestFile[]>> => {
  const changed = new Set(left.map(({ file }) => file));
  for (const file of changed) {
    const own = left.filter((mutant) => mutant.file === file);
    writeFileSync(join(copy, file), withProbes(textOf.get(file)!, own));
  }
  const hits = join(dirname(copy), 'hits');
  writeFileSync(hits, '');
  const run: JestRun = { project: stage.project, tests, workers };
  const outcome = await runner.run(run, FIRST_RUN_MS);
  if (typeof outcome === 'string') throw new Error(`the ${stage.name} of the unchanged source end by ${outcome}`);
  for (const file of changed) writeFileSync(join(copy, file), textOf.get(file)!);

  const times = new Map<string, TestFile>();
  for (const { file, ms, failed } of outcome.files) {
    if (failed) console.log(`${file} fails on the unchanged source: it does not count`);
    else times.set(file, { file, ms });
  }
  const reaching = new Map<number, TestFile[]>();
  for (const line of readFileSync(hits, 'utf8').split('\n').filter(Boolean)) {
    const [id, path] = line.split('\t') as [string, string];
    const test = times.get(path.slice(copy.length + 1));
    const known = reaching.get(Number(id)) ?? [];
    if (test && !known.includes(test)) reaching.set(Number(id), [...known, test]);
  }
  return reaching;
};

const packageOf = (file: string): string => file.slice(0, file.indexOf('/src/'));
