import { createOverloadLog } from './refuse-overload.ts';

/** A log of overloads on a clock that `pass` moves. */
const startLog = () => {
  const lines: unknown[] = [];
  let nowMs = 0;
  const due: { atMs: number; run: () => void }[] = [];
  const overload = createOverloadLog(
    { warn: (...line: unknown[]) => void lines.push(line) },
    { nowMs: () => nowMs, later: (run, ms) => void due.push({ atMs: nowMs + ms, run }) },
  );
  const pass = (ms: number) => {
    const endMs = nowMs + ms;
    while (due.length > 0 && due[0]!.atMs <= endMs) {
      nowMs = due[0]!.atMs;
      due.shift()!.run();
    }
    nowMs = endMs;
  };
  return { overload, lines, pass };
};

const BEGIN = [{ loadClass: 'create' }, 'overload began'];

test('an overload is two lines, the second with its time and the number of refused requests', () => {
  const { overload, lines, pass } = startLog();
  for (let n = 0; n < 1_000; n += 1) {
    overload.refused('create');
    pass(10);
  }
  expect(lines).toEqual([BEGIN]);
  pass(10_000);
  expect(lines).toEqual([BEGIN, [{ overloadMs: 9_990, refused: 1_000 }, 'overload ended']]);
  expect(overload.totals()).toEqual(new Map([['create', 1_000]]));
});

test('a refusal after a quiet time is another overload', () => {
  const { overload, lines, pass } = startLog();
  overload.refused('create');
  pass(6_000);
  overload.refused('create');
  pass(6_000);
  const ended = [{ overloadMs: 0, refused: 1 }, 'overload ended'];
  expect(lines).toEqual([BEGIN, ended, BEGIN, ended]);
});
