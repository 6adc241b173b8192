import { parseDecimal } from '@cpg/contracts';
import { median } from './agreement.ts';

test('the median is the middle value, or the mean of the two middle values', () => {
  const of = (...texts: string[]) => median(texts.map(parseDecimal));
  expect(of('3', '1', '2')).toEqual({ units: 20n, scale: 1 });
  expect(of('1', '2.5')).toEqual({ units: 175n, scale: 2 });
});
