import { reasonOf } from './reason.ts';

test.each([
  [new Error('no stock'), 'no stock'],
  [{ message: 'no stock' }, 'no stock'],
  [{ error: { code: 7 } }, '{"error":{"code":7}}'],
  ['no stock', 'no stock'],
  [undefined, 'undefined'],
  [null, 'null'],
])('%p is told as %p', (thrown, reason) => expect(reasonOf(thrown)).toBe(reason));
