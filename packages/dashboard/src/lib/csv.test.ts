import { toCsv } from './csv.ts';

test('writes lines that spreadsheets read', () =>
  expect(
    toCsv([
      ['id', 'name'],
      ['1', 'Dinner, for "two"'],
      ['2', 'two\nlines'],
    ]),
  ).toBe('id,name\r\n1,"Dinner, for ""two"""\r\n2,"two\nlines"\r\n'));

test.each(['=1+1', '+cmd', '-cmd', '@SUM(A1)', '\tx'])('%j does not run as a formula', (text) =>
  expect(toCsv([[text]])).toBe(`'${text}\r\n`),
);

test('a text that begins with a carriage return is quoted too', () => expect(toCsv([['\rx']])).toBe(`"'\rx"\r\n`));

test('amounts below zero stay numbers', () => expect(toCsv([['-50.00', '12']])).toBe('-50.00,12\r\n'));
