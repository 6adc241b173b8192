import { withoutEquivalents, withProbes } from './mutant.ts';
import { mutantsOf } from './mutants.ts';

const probed = (source: string) =>
  withProbes(
    source,
    mutantsOf('source.ts', source).map((mutant, id) => ({ ...mutant, id })),
  );

test('a statement is recorded before it runs', () => {
  expect(probed('f = () => { g(); return a < 1n; };')).toBe(
    'f = () => { ;globalThis.mutationHit?.(0);g(); ;globalThis.mutationHit?.(4);;globalThis.mutationHit?.(3);;globalThis.mutationHit?.(2);;globalThis.mutationHit?.(1);return a < 1n; };',
  );
});

test('the body of an arrow function is recorded when it is called', () => {
  expect(probed('export const f = (a = !b) => !a;')).toBe(
    'export const f = (a = (globalThis.mutationHit?.(0), !b)) => (globalThis.mutationHit?.(1), !a);',
  );
});

const mutant = {
  operator: 'comparison',
  file: 'a.ts',
  start: 0,
  end: 3,
  before: '===',
  after: '!==',
  line: 1,
  lineText: 'if (a === b) {',
  probe: { kind: 'statement', at: 0 },
} as const;
const entry = { file: 'a.ts', line: 'if (a === b) {', before: '===', after: '!==', because: 'a and b never differ' };

test('a named change is not tried, on whichever line it is', () => {
  expect(withoutEquivalents([{ ...mutant, line: 9 }], [entry])).toEqual({ tried: [], unmatched: [] });
});

test.each([
  ['another file', { file: 'b.ts' }],
  ['another line', { lineText: 'if (a === c) {' }],
  ['another change', { after: '==' }],
])('an entry does not stand for %s, and is reported', (_, other) => {
  const changed = { ...mutant, ...other };

  expect(withoutEquivalents([changed], [entry])).toEqual({ tried: [changed], unmatched: [entry] });
});
