import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunOutcome } from './jest-runner.ts';
import { mutantsOf } from './mutants.ts';
import { tryChanges } from './try-changes.ts';

const SOURCE = 'export const f = (a: number) => a === 1;';
const passed: RunOutcome = { files: [{ file: 'a.test.ts', ms: 1, failed: false }], memory: 0 };
const failed: RunOutcome = { files: [{ file: 'a.test.ts', ms: 1, failed: true }], memory: 0 };

let copy: string;
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'cpg-mutation-try-'));
  writeFileSync(join(copy, 'a.ts'), SOURCE);
});
afterEach(() => rmSync(copy, { recursive: true, force: true }));

const endOf = async (...outcomes: RunOutcome[]) => {
  const seen: string[] = [];
  const run = () => {
    seen.push(readFileSync(join(copy, 'a.ts'), 'utf8'));
    return Promise.resolve(outcomes[seen.length - 1]!);
  };
  const change = { ...mutantsOf('a.ts', SOURCE)[0]!, id: 7, file: 'a.ts', lineText: SOURCE };
  const ends = await tryChanges({
    stage: { name: 'unit tests', project: 'unit', isNear: true },
    changes: [change],
    reaching: new Map([[7, [{ file: 'a.test.ts', ms: 1 }]]]),
    textOf: new Map([['a.ts', SOURCE]]),
    copies: [copy],
    runners: [{ run }],
  });
  return { end: ends.get(7), runs: seen.length, seen: new Set(seen) };
};

test.each<[string, RunOutcome[], string]>([
  ['that no test notices', [passed], 'survived'],
  ['that a test notices', [failed], 'failed'],
  ['whose tests hang twice', ['timeout', 'timeout'], 'timeout'],
  ['whose tests hang only beside another run', ['timeout', passed], 'survived'],
  ['whose tests crash only beside another run', ['crash', passed], 'survived'],
  ['whose tests hang, and alone fail', ['timeout', failed], 'failed'],
])('a change %s: %j ends as %s', async (_, outcomes, end) => {
  expect(await endOf(...outcomes)).toEqual({
    end,
    runs: outcomes.length,
    seen: new Set(['export const f = (a: number) => a !== 1;']),
  });
});

test('the source is as before when the tests have ended', async () => {
  await endOf(failed);

  expect(readFileSync(join(copy, 'a.ts'), 'utf8')).toBe(SOURCE);
});
