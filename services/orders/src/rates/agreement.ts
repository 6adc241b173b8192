import { add, type Decimal } from '@cpg/contracts';

/** The fresh price of a currency by one source. */
export interface FreshPrice {
  readonly source: string;
  readonly usd: Decimal;
  /** The source publishes once a day. */
  readonly isDaily?: boolean | undefined;
}

export interface Trust {
  /** By source: its last price that was believed. */
  readonly accepted: ReadonlyMap<string, Decimal>;
  /** The dollars that a stablecoin promises. */
  readonly peg?: Decimal | undefined;
  /** The operator named a single source for the currency. */
  readonly hasSingleSource: boolean;
}

/** How far prices of two sources may differ to agree, and a stablecoin may be off its peg. */
const AGREE_PERCENT = 5;
/** How far a source may move from its last believed price without a second source. */
const MOVE_PERCENT = 10;

/** The prices of one currency that count: those on which at least two sources agree, or one that stays near the last
 *  believed price of its own source. A source without one counts alone only at the peg of a stablecoin, or if the
 *  operator named no other. Empty if none can be believed. */
export const believed = <P extends FreshPrice>(fresh: readonly P[], trust: Trust): readonly P[] => {
  const agreeing = largestAgreement(fresh);
  const counting = agreeing.length > 1 ? agreeing : onItsOwn(fresh, trust);
  const current = counting.filter(({ isDaily }) => !isDaily);
  return current.length > 0 ? current : counting;
};

/** The most prices that agree with each other. Empty if two different groups have the most. */
const largestAgreement = <P extends FreshPrice>(fresh: readonly P[]): readonly P[] => {
  const groups = fresh.map(({ usd }) => fresh.filter((other) => isAtOrSlightlyAbove(other.usd, usd)));
  const most = Math.max(0, ...groups.map(({ length }) => length));
  const [first = [], ...others] = groups.filter(({ length }) => length === most);
  return others.every((group) => group.every((price) => first.includes(price))) ? first : [];
};

const isAtOrSlightlyAbove = (usd: Decimal, lowest: Decimal): boolean =>
  isNear(usd, lowest, AGREE_PERCENT) && compare(usd, lowest) >= 0;

const onItsOwn = <P extends FreshPrice>(
  fresh: readonly P[],
  { accepted, peg, hasSingleSource }: Trust,
): readonly P[] => {
  const steady = fresh.filter(({ source, usd }) => {
    const last = accepted.get(source);
    return last !== undefined && isNear(usd, last, MOVE_PERCENT);
  });
  if (steady.length > 0) return steady.length === 1 ? steady : [];
  return fresh.filter(
    ({ source, usd }) =>
      fresh.length === 1 && !accepted.has(source) && (hasSingleSource || (peg && isNear(usd, peg, AGREE_PERCENT))),
  );
};

const compare = (a: Decimal, b: Decimal): number => {
  const scale = Math.max(a.scale, b.scale);
  return Number(a.units * 10n ** BigInt(scale - a.scale) - b.units * 10n ** BigInt(scale - b.scale));
};

const half = ({ units, scale }: Decimal): Decimal => ({ units: units * 5n, scale: scale + 1 });

/** The middle value, or the mean of the two middle values. Throws RangeError for an empty list. */
export const median = (values: readonly Decimal[]): Decimal => {
  const sorted = [...values].sort(compare);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (!low || !high) throw new RangeError('no values');
  return half(add(low, high));
};

/** Whether `value` differs from `from` by at most `percent` percent. */
const isNear = (value: Decimal, from: Decimal, percent: number): boolean => {
  const scale = Math.max(value.scale, from.scale);
  const [a, b] = [value, from].map(({ units, scale: own }) => units * 10n ** BigInt(scale - own)) as [bigint, bigint];
  const distance = a > b ? a - b : b - a;
  return distance * 100n <= b * BigInt(percent);
};
