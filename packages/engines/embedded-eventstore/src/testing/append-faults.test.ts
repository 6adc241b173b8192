import { faultCases, parseFaults, plannedFaults } from './append-faults.ts';

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

test('planned faults hit the streams of one id, after the appends that are skipped', () => {
  const { faultOf, plan, isOver } = plannedFaults();
  plan('1', { fault: 'not-ready', skip: 1, times: 2 });
  expect(['order-1', 'order-2', 'order-1'].map(faultOf)).toEqual([null, null, 'not-ready']);
  expect(isOver('1')).toBe(false);
  expect(['deletion-1', 'order-1'].map(faultOf)).toEqual(['not-ready', null]);
  expect(isOver('1')).toBe(true);
});

test('a command with two appends has four cases', () => {
  expect(faultCases('delete', 2, 3).map(({ title }) => title)).toEqual([
    'delete: an append fails',
    'delete: 3 appends fail',
    'delete: an append fails after 1',
    'delete: 3 appends fail after 1',
  ]);
});
