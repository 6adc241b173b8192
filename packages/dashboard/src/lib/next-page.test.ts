import { linkToken, nextPage } from './next-page.ts';

test('goes back to the page that asked to sign in', () =>
  expect(nextPage('/orders?status=paid')).toBe('/orders?status=paid'));

test.each([
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  'javascript:alert(1)',
  '/sign-in',
  undefined,
  7,
])('goes home instead of to %j', (next) => expect(nextPage(next)).toBe('/'));

test('reads the token of a sign-in link from the fragment', () => {
  expect(linkToken('#link=abc-123')).toBe('abc-123');
  expect(linkToken('#link=')).toBeUndefined();
  expect(linkToken('')).toBeUndefined();
});
