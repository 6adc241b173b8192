import { parseArguments } from './arguments.ts';

test('runs one dispatcher by default', () => expect(parseArguments([])).toEqual({ help: false, dispatchers: 1 }));

test.each([['--dispatchers', '3'], ['--dispatchers=3']])('reads the number of dispatchers from %s', (...args) =>
  expect(parseArguments(args).dispatchers).toBe(3),
);

test.each(['0', '17', '-1', '1.5', 'many', ''])('rejects "%s" dispatchers', (count) =>
  expect(() => parseArguments([`--dispatchers=${count}`])).toThrow(/from 1 to 16/),
);

test.each([['--dispatcher', '3'], ['-x'], ['three'], ['--dispatchers'], ['--help=yes']])(
  'rejects %s and lists the known options',
  (...args) => expect(() => parseArguments(args)).toThrow(/Known options: --dispatchers N, --help$/),
);
