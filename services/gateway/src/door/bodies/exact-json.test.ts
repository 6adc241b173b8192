import { AppError } from '@cpg/contracts';
import fc from 'fast-check';
import { parseExactJson } from './json-body.ts';

const faultsOf = (text: string): unknown => {
  try {
    parseExactJson(text);
  } catch (error) {
    return error instanceof AppError && error.details.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
};

test.each([
  '0',
  '-0',
  '0.0',
  '1.50',
  '100000000000000000000000',
  '1e23',
  '1E-7',
  '9007199254740992',
  '-0.30000000000000004',
  '5e-324',
  '1.7976931348623157e308',
  '{"text":"12345678901234567890 \\" 1e999"}',
])('%s keeps its value', (text) => {
  expect(parseExactJson(text)).toEqual(JSON.parse(text));
});

test.each([
  '12345678901234567890',
  '9007199254740993',
  '0.1000000000000000055',
  '1e400',
  '-1e400',
  '1e-400',
  '3.14159265358979323846',
])('%s does not fit a double', (number) => {
  const fault = `${number} does not fit a 64-bit floating-point number: send it as a string`;
  expect(faultsOf(number)).toEqual([`body: ${fault}`]);
  expect(faultsOf(`{"metadata":{"\\"a":[1,{"id":${number}}],"b":"${number}"}}`)).toEqual([
    `metadata."a.1.id: ${fault}`,
  ]);
});

test('every number that JavaScript prints keeps its value', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      expect(parseExactJson(String(number))).toBe(Object.is(number, -0) ? 0 : number);
    }),
  );
});

test('a double holds 15 significant digits with every exponent of two digits', () => {
  const numbers = fc.tuple(fc.integer({ min: 1, max: 10 ** 15 - 1 }), fc.integer({ min: -99, max: 99 }));
  fc.assert(
    fc.property(numbers, ([digits, exponent]) => {
      const [held = '', heldExponent] = Number(`${digits}e${exponent}`).toExponential(14).split('e');
      expect(BigInt(held.replace('.', '').replace('-', ''))).toBe(BigInt(String(digits).padEnd(15, '0')));
      expect(Number(heldExponent)).toBe(exponent + String(digits).length - 1);
      expect(faultsOf(`${digits}e${exponent}`)).toEqual([]);
    }),
  );
});

test('every value that JavaScript writes is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(parseExactJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('deep nesting does not hide a number, and ends its path', () => {
  const nested = `${'{"a":'.repeat(5_000)}1e400${'}'.repeat(5_000)}`;
  expect(faultsOf(nested)).toEqual([
    'a.a.a: a number does not fit a 64-bit floating-point number: send it as a string',
  ]);
});

test('text that is not JSON is refused with its position', () => {
  expect(faultsOf('{"a": 1,}')).toEqual([expect.stringMatching(/^body: is not valid JSON, at character \d+$/)]);
  expect(faultsOf('{"a":')).toEqual([expect.stringMatching(/^body: is not valid JSON/)]);
});

test('of many numbers the first 20 are named, and long names are cut', () => {
  const fault = '9e999 does not fit a 64-bit floating-point number: send it as a string';
  const faults = faultsOf(`{"${'k'.repeat(130_000)}":[${'9e999,'.repeat(20_000)}1]}`);
  expect(faults).toEqual(Array.from({ length: 20 }, () => `${'k'.repeat(255)}…: ${fault}`));
});
