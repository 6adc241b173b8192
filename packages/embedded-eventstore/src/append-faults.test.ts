import { parseFaults } from './append-faults.ts';

test('every n-th append fails, by the first rule that applies', () => {
  const faultOf = parseFaults('commit-timeout/2, not-ready/3');
  expect(Array.from({ length: 6 }, () => faultOf('s'))).toEqual([
    null,
    'commit-timeout',
    'not-ready',
    'commit-timeout',
    null,
    'commit-timeout',
  ]);
});

test.each(['', 'slow/2', 'not-ready', 'not-ready/0', 'not-ready/2,,'])('refuses %j', (text) => {
  expect(() => parseFaults(text)).toThrow(/must be a list of faults such as commit-timeout\/10/);
});
