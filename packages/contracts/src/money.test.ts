import fc from 'fast-check';
import {
  add,
  Amount,
  AmountDto,
  divideHalfEven,
  divideUp,
  formatAtLeast,
  formatDecimal,
  fromMinor,
  fromUnits,
  maxMinor,
  Minor,
  multiply,
  parseAmount,
  parseDecimal,
  parseSigned,
  toMinor,
  toMinorRoundedUp,
  toUnits,
} from './money.ts';

const decimals = fc.nat({ max: 18 });
const units = fc.bigInt({ min: 0n, max: 10n ** 40n });
const positive = fc.bigInt({ min: 1n, max: 10n ** 30n });
const decimal = fc.record({ units, scale: fc.nat({ max: 24 }) });

/** Both as whole numbers of one scale, the sum of theirs, so that they can be compared. */
const aligned = (a: { units: bigint; scale: number }, b: { units: bigint; scale: number }): [bigint, bigint] => [
  a.units * 10n ** BigInt(b.scale),
  b.units * 10n ** BigInt(a.scale),
];

test('an amount of any size can be shown', () => {
  fc.assert(
    fc.property(decimals, fc.bigInt({ min: 0n, max: 2n ** 256n }), (of, minor) => {
      expect(Amount.safeParse(fromMinor(minor, of)).success).toBe(true);
    }),
  );
});

describe('an amount in a request', () => {
  test.each(['0', '0.5', '12.50', '1', '999999999999999999.999999999999999999', '0.000000000000000001'])(
    'may be written %j',
    (text) => expect(AmountDto.safeParse(text).success).toBe(true),
  );

  test.each([
    '',
    '00',
    '01',
    '.5',
    '5.',
    '-1',
    '+1',
    '1e3',
    '1,5',
    ' 1',
    '1 ',
    '1\n',
    '0x1',
    '٣',
    '1000000000000000000',
    '0.0000000000000000001',
    'NaN',
  ])('may not be written %j', (text) => expect(AmountDto.safeParse(text).success).toBe(false));

  test.each([1, 1n, null, ['1']])('is text, not %p', (value) => expect(AmountDto.safeParse(value).success).toBe(false));

  test('comes back from minor units as it was, padded to the decimals of its currency', () => {
    fc.assert(
      fc.property(decimals, units, (of, minor) => {
        const text = fromMinor(minor, of);
        expect(text.split('.')[1]?.length ?? 0).toBe(of);
        expect(toMinor(text, of)).toBe(minor);
      }),
    );
  });

  test('can be written down up to the largest of its currency, and no further', () => {
    for (let of = 0; of <= 18; of += 1) {
      expect(AmountDto.safeParse(fromMinor(maxMinor(of), of)).success).toBe(true);
      expect(AmountDto.safeParse(fromMinor(maxMinor(of) + 1n, of)).success).toBe(false);
    }
  });

  test('is never rounded silently: more decimals than the currency has are refused, zeros too', () => {
    expect(() => toMinor('0.123', 2)).toThrow(new RangeError('the currency has 2 decimals, "0.123" has 3'));
    expect(() => toMinor('1.500', 2)).toThrow(RangeError);
    expect(toMinor('1.5', 2)).toBe(150n);
  });

  test.each(['', '-1', '1.', '.1', '1e2', ' 1', '1.2.3'])('%j is not read as a number', (text) => {
    expect(() => parseDecimal(text)).toThrow(RangeError);
  });
});

test.each(['0', '7', '123456789012345678901234567890'])('%s is a number of minor units', (text) =>
  expect(Minor.safeParse(text).success).toBe(true),
);

test.each(['', '-1', '01', '1.0', '1e3'])('%j is no number of minor units', (text) =>
  expect(Minor.safeParse(text).success).toBe(false),
);

describe('exact decimals', () => {
  test('are read back as they were written', () => {
    fc.assert(
      fc.property(decimal, ({ units, scale }) => {
        expect(parseDecimal(formatDecimal({ units, scale }))).toEqual({ units, scale });
      }),
    );
  });

  test('sum exactly, in any order', () => {
    fc.assert(
      fc.property(decimal, decimal, decimal, (a, b, c) => {
        expect(add(add(a, b), c)).toEqual(add(a, add(c, b)));
        const { units, scale } = add(a, b);
        expect(units - a.units * 10n ** BigInt(scale - a.scale)).toBe(b.units * 10n ** BigInt(scale - b.scale));
      }),
    );
  });

  test('multiply out over sums', () => {
    fc.assert(
      fc.property(decimal, decimal, decimal, (a, b, c) => {
        const [left, right] = aligned(multiply(a, add(b, c)), add(multiply(a, b), multiply(a, c)));
        expect(left).toBe(right);
      }),
    );
  });

  test('round up to minor units: never less than the value, and by less than one unit', () => {
    fc.assert(
      fc.property(decimal, decimals, (value, of) => {
        const [minor, exact] = aligned({ units: toMinorRoundedUp(value, of), scale: of }, value);
        const oneUnit = 10n ** BigInt(value.scale);
        expect(minor >= exact && minor - exact < oneUnit).toBe(true);
      }),
    );
  });
});

describe('division', () => {
  test('rounded up is the smallest whole number that covers it', () => {
    fc.assert(
      fc.property(units, positive, (a, b) => {
        const quotient = divideUp(a, b);
        expect(quotient * b >= a && (quotient === 0n || (quotient - 1n) * b < a)).toBe(true);
      }),
    );
  });

  test('rounded half to even is off by at most a half, and even on a tie', () => {
    fc.assert(
      fc.property(units, positive, (a, b) => {
        const quotient = divideHalfEven(a, b);
        const twiceOff = (quotient * b - a) * 2n;
        expect(twiceOff <= b && -twiceOff <= b).toBe(true);
        if (twiceOff === b || -twiceOff === b) expect(quotient % 2n).toBe(0n);
      }),
    );
  });

  test.each([
    [5n, 10n, 0n],
    [15n, 10n, 2n],
    [25n, 10n, 2n],
    [26n, 10n, 3n],
    [24n, 10n, 2n],
  ])('%d by %d rounds half to even to %d', (a, b, expected) => expect(divideHalfEven(a, b)).toBe(expected));
});

describe('units on a chain', () => {
  const scales = fc.record({ scale: fc.nat({ max: 18 }), decimals: fc.nat({ max: 36 }) });
  const BNB_USDC = { scale: 6, decimals: 18 };

  test('are worth what the asset says, not what the currency says', () => {
    expect(toUnits(25_500_000n, { scale: 6, decimals: 6 })).toBe(25_500_000n);
    expect(toUnits(25_500_000n, BNB_USDC)).toBe(25_500_000_000_000_000_000n);
    expect(fromUnits(25_500_000_000_000_000_000n, BNB_USDC)).toEqual({ minor: 25_500_000n, dust: 0n });
    expect(fromUnits(1_999_999_999_999n, BNB_USDC)).toEqual({ minor: 1n, dust: 999_999_999_999n });
    expect(fromUnits(999_999_999_999n, BNB_USDC)).toEqual({ minor: 0n, dust: 999_999_999_999n });
  });

  test('what an amount costs on the chain pays that amount, and one unit less does not', () => {
    fc.assert(
      fc.property(units, scales, (minor, of) => {
        const cost = toUnits(minor, of);
        expect(fromUnits(cost, of).minor >= minor && fromUnits(cost, of).dust === 0n).toBe(true);
        if (cost > 0n) expect(fromUnits(cost - 1n, of).minor < minor).toBe(true);
      }),
    );
  });

  test('are neither made nor lost: minor units and dust together are the units that came', () => {
    fc.assert(
      fc.property(units, scales, (came, of) => {
        const { minor, dust } = fromUnits(came, of);
        expect(toUnits(minor, of) + dust).toBe(came);
        expect(dust >= 0n && dust < toUnits(1n, of)).toBe(true);
      }),
    );
  });
});

test('a price with a minus is read and written as it is', () => {
  const signed = fc.record({ units: fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), scale: fc.nat({ max: 24 }) });
  fc.assert(fc.property(signed, (value) => expect(parseSigned(formatDecimal(value))).toEqual(value)));
  expect(['-0.05', '-12.50', '7'].map((text) => formatDecimal(parseSigned(text)))).toEqual(['-0.05', '-12.50', '7']);
  for (const text of ['--1', '- 1', '+1', '-', '-.5', '1-']) expect(() => parseSigned(text)).toThrow(RangeError);
});

test('a decimal number is written exactly, with the decimals that it needs and those that it must have', () => {
  fc.assert(
    fc.property(decimal, decimals, (value, least) => {
      const text = formatAtLeast(value, least);
      const [a, b] = aligned(parseDecimal(text), value);
      expect(a).toBe(b);
      const { scale } = parseDecimal(text);
      expect(scale >= least && (scale === least || !text.endsWith('0'))).toBe(true);
    }),
  );
  expect(formatAtLeast({ units: -1250n, scale: 3 }, 2)).toBe('-1.25');
});

test('an amount of a request has at most the decimals of its currency', () => {
  expect(parseAmount('1.50', { currency: 'USDT', decimals: 2 })).toBe(150n);
  expect(() => parseAmount('1.505', { currency: 'USDT', decimals: 2, path: 'from' })).toThrow(
    'from: USDT has 2 decimals, "1.505" has 3',
  );
});
