import { parseDecimal } from '@cpg/contracts';
import { believed, median } from './agreement.ts';

test('the median is the middle value, or the mean of the two middle values', () => {
  const of = (...texts: string[]) => median(texts.map(parseDecimal));
  expect(of('3', '1', '2')).toEqual({ units: 20n, scale: 1 });
  expect(of('1', '2.5')).toEqual({ units: 175n, scale: 2 });
  expect(of('10.5', '2', '100.25')).toEqual({ units: 1_050n, scale: 2 });
  expect(() => of()).toThrow(RangeError);
});

describe('prices of two sources', () => {
  const fresh = (...texts: string[]) => texts.map((usd, n) => ({ source: 'abc'[n]!, usd: parseDecimal(usd) }));
  const NOBODY = { accepted: new Map(), hasSingleSource: false };
  const believedOf = (...texts: string[]) => believed(fresh(...texts), NOBODY).map(({ source }) => source);

  test('agree up to 5 percent apart, however they are written', () => {
    expect(believedOf('100', '105')).toEqual(['a', 'b']);
    expect(believedOf('105.0', '100.00')).toEqual(['a', 'b']);
    expect(believedOf('100', '105.01')).toEqual([]);
    expect(believedOf('105.01', '100')).toEqual([]);
  });
  test('of which one moved are those of the other, up to 10 percent from its last one', () => {
    const accepted = new Map([['a', parseDecimal('100')]]);
    const steady = (usd: string) => believed(fresh(usd, '200'), { ...NOBODY, accepted }).map(({ source }) => source);
    expect([steady('110'), steady('90'), steady('110.1'), steady('89.9')]).toEqual([['a'], ['a'], [], []]);
  });
  test('are none if both are steady and differ', () => {
    const accepted = new Map([
      ['a', parseDecimal('100')],
      ['b', parseDecimal('200')],
    ]);
    expect(believed(fresh('100', '200'), { ...NOBODY, accepted })).toEqual([]);
  });
  test('are none at the peg of a stablecoin if they differ', () =>
    expect(believed(fresh('1', '1.1'), { ...NOBODY, peg: parseDecimal('1') })).toEqual([]));
});
