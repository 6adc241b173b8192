import { withoutEquivalents } from './equivalents.ts';

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
