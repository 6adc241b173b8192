import { mutate } from './mutant.ts';
import { mutantsOf } from './mutants.ts';

const changesOf = (source: string, path = 'source.ts') =>
  mutantsOf(path, source).map((mutant) => [mutant.operator, mutate(source, mutant).replace(/\s+/g, ' ').trim()]);

describe('each operator changes one place', () => {
  test.each([
    ['comparison', 'f(a === b);', ['f(a !== b);']],
    ['comparison', 'f(a !== b);', ['f(a === b);']],
    ['comparison', 'f(a < b);', ['f(a <= b);', 'f(a > b);']],
    ['comparison', 'f(a >= b);', ['f(a > b);', 'f(a < b);']],
    ['connective', 'f(a && b);', ['f(a || b);']],
    ['connective', 'f(a || b);', ['f(a && b);']],
    ['default', 'f(a ?? b);', ['f(a);', 'f(b);']],
    ['arithmetic', 'f(a + b);', ['f(a - b);']],
    ['arithmetic', 'f(a * b);', ['f(a / b);']],
    ['arithmetic', 'a += b;', ['a -= b;']],
    ['negation', 'f(!a);', ['f(a);']],
    ['negation', 'f(-a);', ['f(a);']],
    ['call', 'f(a);', [';']],
    ['call', 'await f(a);', [';']],
    ['await', 'await f(a);', ['void f(a);']],
    ['await', 'const a = await f();', ['const a = f();']],
    ['guard', 'if (a) return;', [';']],
    ['guard', 'if (a) { throw b; }', [';']],
    ['guard', 'if (a) return; else f();', []],
    ['guard', 'if (a) f();', []],
    ['condition', 'if (a) f();', ['if (true) f();', 'if (false) f();']],
    ['condition', 'f(a ? b : c);', ['f(true ? b : c);', 'f(false ? b : c);']],
    ['element', 'f([a, b]);', ['f([ b]);', 'f([a, ]);']],
    ['property', 'f({ a: 1, ...b });', ['f({ ...b });', 'f({ a: 1, });']],
    ['case', "switch (a) { case 'b': f(); break; default: g(); }", ['switch (a) { default: g(); }']],
    ['literal', 'f(true);', ['f(false);']],
    ['literal', 'f(a > 1);', ['f(a > 2);', 'f(a > 0);']],
    ['literal', 'f(a - 0n);', ['f(a - 1n);']],
    ['literal', 'f(1);', []],
    ['literal', 'f(5 * 60_000);', []],
    ['literal', 'f(5 * 60 * 1_000);', []],
  ])('%s: %s', (operator, source, expected) => {
    const changed = changesOf(source).filter(([name]) => name === operator);

    expect(changed.map(([, text]) => text)).toEqual(expected);
  });
});

test('SQL in a template is changed between its expressions', () => {
  const source = "f(`select a from b where c = ${d} and e < now() - interval '${x}' or g is null`);";

  expect(changesOf(source).flatMap(([operator, text]) => (operator === 'sql' ? [text] : []))).toEqual([
    "f(`select a from b where c <> ${d} and e < now() - interval '${x}' or g is null`);",
    "f(`select a from b where c = ${d} or e < now() - interval '${x}' or g is null`);",
    "f(`select a from b where c = ${d} and e <= now() - interval '${x}' or g is null`);",
    "f(`select a from b where c = ${d} and e > now() - interval '${x}' or g is null`);",
    "f(`select a from b where c = ${d} and e < now() - interval '${x}' and g is null`);",
    "f(`select a from b where c = ${d} and e < now() - interval '${x}' or g is not null`);",
  ]);
});

test.each([
  ['a log line', "log.warn({ a: !b }, 'select a or b');"],
  ['an error', "throw new AppError('not-found', a ? 'b' : 'c', { d: 1 });"],
  ['a description', "const a = b.meta({ description: c ?? 'd', examples: [1, 2] });"],
  ['a type', 'type A = { a: true } | [1, 2];'],
  ['an import', "import { a, b } from './c.ts';"],
  ['the text of a metric', "const a = counter({ help: b ? 'c' : 'd' });"],
  ['a sentence', "const a = 'either this or that = both';"],
])('%s is left alone', (_, source) => {
  expect(changesOf(source).filter(([operator]) => operator !== 'property')).toEqual([]);
});

test('the parameters and the name of a query are left alone', () => {
  expect(changesOf("f.query({ name: 'a', text: 'select 1', values: [b, c] }); f.query(d, [e]);")).toEqual([
    ['call', '; f.query(d, [e]);'],
    ['call', "f.query({ name: 'a', text: 'select 1', values: [b, c] }); ;"],
  ]);
});

test('a change knows its line and its text before and after', () => {
  expect(mutantsOf('a.tsx', 'const a = 1;\nconst b = a === 2 ? <p /> : null;')[2]).toMatchObject({
    operator: 'comparison',
    line: 2,
    before: '===',
    after: '!==',
  });
});
