import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { copyCheckout, filesOf } from './copy.ts';
import { type Equivalent, type Located, withoutEquivalents } from './equivalents.ts';
import { isIn, isTried } from './groups.ts';
import type { JestRun, Project } from './jest-process.ts';
import { JestRunner } from './jest-runner.ts';
import { mutate, withProbes } from './mutant.ts';
import { mutantsOf } from './mutants.ts';
import { Imports } from './related.ts';
import { onePerPlace, randomFrom } from './sample.ts';
import { typeCheck } from './type-check.ts';

export interface Measurement {
  readonly name: string;
  readonly paths: readonly string[];
  readonly seed: number;
  readonly sample: number;
  readonly checkout: string;
}

interface Numbered extends Located {
  readonly id: number;
}

interface Survivor extends Located {
  readonly isReached: boolean;
}

export interface Measured {
  readonly name: string;
  readonly tried: number;
  readonly untested: number;
  readonly survivors: readonly Survivor[];
  readonly unmatched: readonly Equivalent[];
}

interface TestFile {
  readonly file: string;
  readonly project: Project;
  readonly ms: number;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const WORKERS = 2;
const MIN_TIMEOUT_MS = 20_000;
const FIRST_RUN_MS = 1_800_000;
/** Integration tests of one mutant take at most so long without the mutant. */
const MAX_INTEGRATION_MS = 60_000;

/** Changes a sample of the places of these paths, one at a time, in copies of the checkout, and runs the tests that
 *  reach each of them. */
export const measure = async ({ name, paths, seed, sample, checkout }: Measurement): Promise<Measured> => {
  const startedAt = performance.now();
  const say = (text: string) =>
    console.log(`${name}: ${text} (${Math.round((performance.now() - startedAt) / 1_000)} s)`);
  const files = filesOf(checkout);
  const sources = files.filter((file) => isIn(file, paths) && isTried(file));
  if (sources.length === 0) throw new Error(`${name} is no group, and no file or folder with source files`);
  const textOf = new Map(sources.map((file) => [file, readFileSync(join(checkout, file), 'utf8')]));

  const all = sources.flatMap((file) => locatedMutants(file, textOf.get(file)!));
  const { tried: candidates, unmatched } = withoutEquivalents(all, equivalentsIn(checkout, sources));
  const order = onePerPlace(candidates, ({ file, start }) => `${file} ${start}`, randomFrom(seed));
  const mutants = landable(order, sample, realpathSync(checkout), textOf).map((mutant, id) => ({ ...mutant, id }));
  say(`${mutants.length} of ${order.length} places of ${sources.length} files`);

  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'cpg-mutation-'));
  const workers = Array.from({ length: WORKERS }, (_, index) => join(folder, String(index), 'copy'));
  const runners: JestRunner[] = [];
  const cleanUp = async () => {
    await Promise.all(runners.map((runner) => runner.close()));
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupted = () => void cleanUp().finally(() => process.exit(130));
  for (const signal of SIGNALS) process.on(signal, interrupted);
  try {
    for (const copy of workers) {
      mkdirSync(copy, { recursive: true });
      copyCheckout(checkout, files, copy);
      runners.push(new JestRunner(copy));
    }
    const reached = await testsThatReach({ mutants, files, textOf, copy: workers[0]!, runner: runners[0]!, say });

    const survivors: Survivor[] = [];
    const queue = [...mutants];
    const work = async (copy: string, runner: JestRunner) => {
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
        const path = join(copy, mutant.file);
        const source = textOf.get(mutant.file)!;
        writeFileSync(path, mutate(source, mutant));
        const tests = reached.get(mutant.id) ?? [];
        if (!(await isKilled(runner, mutant, tests))) survivors.push({ ...mutant, isReached: tests.length > 0 });
        writeFileSync(path, source);
      }
    };
    await Promise.all(workers.map((copy, index) => work(copy, runners[index]!)));
    say(`${mutants.length - survivors.length} killed`);
    return {
      name,
      tried: mutants.length,
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

/** The first changes that the compiler accepts: nobody could land the others. */
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

const equivalentsIn = (checkout: string, sources: readonly string[]): Equivalent[] => {
  const path = join(checkout, 'packages/tools/mutation/equivalent.json');
  if (!existsSync(path)) return [];
  const entries = JSON.parse(readFileSync(path, 'utf8')) as Equivalent[];
  return entries.filter(({ file }) => sources.includes(file));
};

/** Runs the tests related to the mutants once, on sources that record which test file reaches which mutant. */
const testsThatReach = async ({
  mutants,
  files,
  textOf,
  copy,
  runner,
  say,
}: {
  readonly mutants: readonly Numbered[];
  readonly files: readonly string[];
  readonly textOf: ReadonlyMap<string, string>;
  readonly copy: string;
  readonly runner: JestRunner;
  readonly say: (text: string) => void;
}): Promise<Map<number, TestFile[]>> => {
  const changed = [...new Set(mutants.map(({ file }) => file))];
  const related = new Imports(copy, files).dependentsOf(changed);
  const tests = [...related].filter((file) => /\.test\.ts$/.test(file) && !/\.extended\.|\/acceptance\//.test(file));
  const isIntegration = (file: string) => file.endsWith('.int.test.ts');
  const packages = new Set(changed.map(packageOf));
  const byProject: Record<Project, string[]> = {
    unit: tests.filter((file) => !isIntegration(file)),
    integration: tests.filter((file) => isIntegration(file) && packages.has(packageOf(file))),
  };

  for (const file of changed) {
    const own = mutants.filter((mutant) => mutant.file === file);
    writeFileSync(join(copy, file), withProbes(textOf.get(file)!, own));
  }
  const hits = join(dirname(copy), 'hits');
  writeFileSync(hits, '');
  const times = new Map<string, TestFile>();
  for (const project of ['unit', 'integration'] as const) {
    if (byProject[project].length === 0) continue;
    const run: JestRun = { project, tests: byProject[project], workers: WORKERS, bail: false };
    const outcome = await runner.run(run, FIRST_RUN_MS);
    if (typeof outcome === 'string') throw new Error(`the ${project} tests of the unchanged source end by ${outcome}`);
    for (const { file, ms, failed } of outcome.files) {
      if (failed) console.log(`${file} fails on the unchanged source: it does not count`);
      else times.set(file, { file, project, ms });
    }
    say(`${outcome.files.length} ${project} tests`);
  }
  for (const file of changed) writeFileSync(join(copy, file), textOf.get(file)!);

  const reached = new Map<number, TestFile[]>();
  for (const line of readFileSync(hits, 'utf8').split('\n').filter(Boolean)) {
    const [id, path] = line.split('\t') as [string, string];
    const test = times.get(path.slice(copy.length + 1));
    const known = reached.get(Number(id)) ?? [];
    if (test && !known.includes(test)) reached.set(Number(id), [...known, test]);
  }
  return reached;
};

const packageOf = (file: string): string => file.slice(0, file.indexOf('/src/'));

/** Whether a test fails, or ends no more: unit tests first, those beside the file first. */
const isKilled = async (runner: JestRunner, mutant: Numbered, tests: readonly TestFile[]): Promise<boolean> => {
  const isNear = ({ file }: TestFile) => dirname(file) === dirname(mutant.file);
  const inOrder = [...tests].sort((a, b) => Number(isNear(b)) - Number(isNear(a)) || a.ms - b.ms);
  for (const project of ['unit', 'integration'] as const) {
    let ms = 0;
    const chosen = inOrder.filter((test) => {
      if (test.project !== project) return false;
      ms += test.ms;
      return project === 'unit' || ms <= MAX_INTEGRATION_MS;
    });
    if (chosen.length === 0) continue;
    const run: JestRun = { project, tests: chosen.map(({ file }) => file), workers: 1, bail: true };
    const outcome = await runner.run(run, Math.max(MIN_TIMEOUT_MS, 3 * ms));
    if (typeof outcome === 'string' || outcome.files.some(({ failed }) => failed)) return true;
  }
  return false;
};
