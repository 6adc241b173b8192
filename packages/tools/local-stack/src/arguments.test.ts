import { parseArguments } from './arguments.ts';

test('runs one instance of each service by default', () =>
  expect(parseArguments([])).toEqual({ help: false, scale: {} }));

test('reads the number of instances of each service', () =>
  expect(parseArguments(['--scale', 'gateway=2,orders=3,payments=1,webhook-dispatcher=16']).scale).toEqual({
    gateway: 2,
    orders: 3,
    payments: 1,
    'webhook-dispatcher': 16,
  }));

test.each([['--dispatchers', '3'], ['--dispatchers=3'], ['--scale', 'webhook-dispatcher=3']])(
  'reads the number of dispatchers from %s',
  (...args) => expect(parseArguments(args).scale).toEqual({ 'webhook-dispatcher': 3 }),
);

test('combines both options', () =>
  expect(parseArguments(['--dispatchers=2', '--scale=orders=2']).scale).toEqual({
    orders: 2,
    'webhook-dispatcher': 2,
  }));

test.each(['0', '17', '-1', '1.5', 'many', ''])('rejects "%s" instances', (count) => {
  expect(() => parseArguments([`--dispatchers=${count}`])).toThrow(/^--dispatchers must be a number from 1 to 16/);
  expect(() => parseArguments([`--scale=orders=${count}`])).toThrow(/^--scale orders must be a number from 1 to 16/);
});

test('rejects a service that is unknown or given twice', () => {
  expect(() => parseArguments(['--scale=kafka=3'])).toThrow(
    '--scale has entries such as orders=2, for gateway, orders, payments, webhook-dispatcher, but "kafka=3" is none',
  );
  expect(() => parseArguments(['--scale=orders=2,orders=3'])).toThrow('instances of orders is given twice');
  expect(() => parseArguments(['--dispatchers=2', '--scale=webhook-dispatcher=2'])).toThrow(
    'instances of webhook-dispatcher is given twice',
  );
});

test.each([['--dispatcher', '3'], ['-x'], ['three'], ['--dispatchers'], ['--help=yes']])(
  'rejects %s and lists the known options',
  (...args) =>
    expect(() => parseArguments(args)).toThrow(/Known options: --scale SERVICE=N,..., --dispatchers N, --help$/),
);
