import { withProbes } from './mutant.ts';
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
