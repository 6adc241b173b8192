import fc from 'fast-check';
import { formatFor } from './format.ts';
import { MAX_FORMATS, speechFor, TEXTS } from './language.ts';

test.each([
  [undefined, 'es-MX,es;q=0.9,en;q=0.8', 'es-MX'],
  [undefined, 'fr-FR, pt-br;q=0.7, en;q=0.1', 'pt-BR'],
  [undefined, 'en;q=0, es;q=0.5', 'es'],
  [undefined, 'fr, zh-Hant-TW, *', 'en'],
  [undefined, '', 'en'],
  ['pt', 'es-MX', 'pt'],
  ['es', 'en, es-AR;q=0.5', 'es-AR'],
  ['xx', 'es', 'es'],
  ['es-<script>', 'pt', 'pt'],
])('speaks by the choice %s and the header %j: %s', (chosen, header, locale) => {
  const speech = speechFor(chosen, header);
  expect(speech.format.locale).toBe(locale);
  expect(speech.texts).toBe(TEXTS[speech.language]);
});

test('any header gives a language', () =>
  fc.assert(fc.property(fc.string(), fc.string(), (chosen, header) => void speechFor(chosen, header))));

/** Every text, with its path; functions get their own parameter names' places. */
const textsIn = (value: unknown, path: string): [string, string][] => {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') {
    const given = Array.from({ length: value.length }, (_, n) => `{${n}}`);
    return textsIn((value as (...args: string[]) => unknown)(...given), path);
  }
  return Object.entries(value as object).flatMap(([name, each]) => textsIn(each, `${path}.${name}`));
};
const SAME_IN_ALL = ['.language', '.total', '.quantity', '.rate', '.sandbox.mark'];

test.each(['es', 'pt'] as const)('has every text in %s, with every value', (language) => {
  const [english, translated] = [new Map(textsIn(TEXTS.en, '')), new Map(textsIn(TEXTS[language], ''))];
  expect([...translated.keys()].sort()).toEqual([...english.keys()].sort());
  const places = (text = '') => [...text.matchAll(/\{\d\}/g)].map(([place]) => place).sort();
  for (const [path, text] of translated) {
    expect([path, text.trim()]).not.toEqual([path, '']);
    expect([path, places(text)]).toEqual([path, places(english.get(path))]);
    if (!SAME_IN_ALL.includes(path)) expect([path, text]).not.toEqual([path, english.get(path)]);
  }
});

test('formats amounts for the region, and hours and days of a long wait', () => {
  expect(formatFor('en').amount('1234.500000', 'USDC')).toBe('1,234.50 USDC');
  expect(formatFor('es-MX').amount('1234.500000', 'USDC')).toBe('1,234.50 USDC');
  expect(formatFor('pt-BR').amount('1234.500000', 'USDC')).toBe('1.234,50 USDC');
  expect(formatFor('en').amount('0.000000000000000001', 'ETH')).toBe('0.000000000000000001 ETH');
  expect(formatFor('en').minutes(1)).toBe('1 minute');
  expect(formatFor('es').minutes(60)).toBe('60 minutos');
  expect(formatFor('pt').minutes(300)).toBe('5 horas');
});

test('never loses a digit of an amount', () =>
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 36n }),
      fc.constantFrom<[string, string][]>(['en', '.'], ['es', ','], ['es-MX', '.'], ['pt', ',']),
      fc.constantFrom('', 'JPY', 'KWD', 'MXN', 'ETH'),
      (units, [locale, point], currency) => {
        const digits = units.toString().padStart(19, '0');
        const decimal = `${digits.slice(0, -18)}.${digits.slice(-18)}`;
        const [whole = '', fraction = ''] = formatFor(locale)
          .amount(decimal, currency)
          .replace(currency, '')
          .trim()
          .split(point);
        expect(whole.replace(/\D/g, '')).toBe(digits.slice(0, -18).replace(/^0+(?=\d)/, ''));
        expect(fraction.padEnd(18, '0')).toBe(digits.slice(-18));
      },
    ),
  ));

test.each([
  ['1500', 'JPY', '1,500 JPY'],
  ['750.5', 'JPY', '750.5 JPY'],
  ['1500', 'CLP', '1,500 CLP'],
  ['12.5', 'KWD', '12.500 KWD'],
  ['12.0625', 'KWD', '12.0625 KWD'],
  ['12.5', 'MXN', '12.50 MXN'],
  ['-0.5', 'KWD', '-0.500 KWD'],
  ['12.500000', 'USDC', '12.50 USDC'],
])('writes %s %s with the decimals of its currency: %s', (decimal, currency, text) =>
  expect(formatFor('en').amount(decimal, currency)).toBe(text),
);

test('keeps few formats, however many regions clients ask for', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const regions = letters.flatMap((first) => letters.slice(0, 8).map((second) => `${first}${second}`));
  const first = speechFor(undefined, 'en-AA').format;
  expect(speechFor(undefined, 'en-AA').format).toBe(first);
  expect(regions.length).toBeGreaterThan(MAX_FORMATS);
  for (const region of regions) speechFor(undefined, `en-${region}`);
  expect(speechFor(undefined, 'en-AA').format).not.toBe(first);
});
