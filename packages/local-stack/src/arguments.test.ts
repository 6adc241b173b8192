import { readArguments } from './arguments.ts';

test('one dispatcher runs unless told otherwise', () =>
  expect(readArguments([])).toEqual({ help: false, dispatchers: 1 }));

test.each([['--dispatchers', '3'], ['--dispatchers=3']])('the number of dispatchers is read from %s', (...args) =>
  expect(readArguments(args).dispatchers).toBe(3),
);

test.each(['0', '17', '-1', '1.5', 'many', ''])('it refuses to run "%s" dispatchers', (count) =>
  expect(() => readArguments([`--dispatchers=${count}`])).toThrow(/from 1 to 16/),
);

test.each([['--dispatcher', '3'], ['-x'], ['three'], ['--dispatchers'], ['--help=yes']])(
  'it refuses %s and names what it knows',
  (...args) => expect(() => readArguments(args)).toThrow(/Known options: --dispatchers N, --help$/),
);
