import { createTurns } from './turns.ts';

test('other work runs between two callers, who come in order', async () => {
  const takeTurn = createTurns();
  const seen: string[] = [];
  const other = () => {
    seen.push('other');
    if (seen.length < 20) setImmediate(other);
  };
  setImmediate(other);
  await Promise.all(['a', 'b', 'c'].map((caller) => takeTurn().then(() => seen.push(caller))));
  const order = seen.join(' ');
  expect(order).toMatch(/a( other)+ b( other)+ c/);
});
