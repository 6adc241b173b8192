import { isHostName } from './passkeys.ts';

test.each([
  ['localhost', true],
  ['pay.example.com', true],
  ['127.0.0.1', false],
  ['[::1]', false],
])('passkeys of the page on %s: %s', (host, expected) => {
  expect(isHostName(host)).toBe(expected);
});
