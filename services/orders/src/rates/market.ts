import { setTimeout as sleep } from 'node:timers/promises';
import type { Decimal } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { Logger } from '@cpg/runtime';
import { crossRate } from '../order/pricing.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { isNear, median } from './decimals.ts';
import type { RateProvider } from './rates.ts';
import type { Answer } from './read.ts';
import type { Price, Priced, RateSource } from './sources/source.ts';

export interface MarketOptions {
  readonly sources: readonly RateSource[];
  /** Fixed prices in US dollars, set by the operator: for a token without a market, or a stablecoin that is taken at
   *  one dollar. */
  readonly fixed: ReadonlyMap<Priced, Decimal>;
  /** Reads a URL. Rejects unless the whole body arrives in time. */
  readonly read: (url: string) => Promise<Answer>;
  readonly now: () => Date;
  readonly log: Logger;
  readonly everyMs?: number;
}

const REFRESH_INTERVAL_MS = 60_000;
const OUTLIER_PERCENT = 10;
/** How far the clock of a source may be ahead of ours. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** Market rates, computed through the US dollar. The dollar price of a currency is the median of all sources, without
 *  stale prices and outliers. Daily sources only detect outliers where another source has a price. Sources are read in
 *  the background, independently; a circuit breaker pauses a source that keeps failing. */
export const marketRates = ({
  sources,
  fixed,
  read,
  now,
  log,
  everyMs = REFRESH_INTERVAL_MS,
}: MarketOptions): RateProvider & { refresh: () => Promise<void>; start: () => { stop: () => Promise<void> } } => {
  const { readings, refresh } = readSources({ sources, read, now, log });

  const valueOf = (currency: Priced, at: Date): { usd: Decimal; names: string[]; quotedAt: Date } => {
    if (currency === 'USD') return { usd: { units: 1n, scale: 0 }, names: [], quotedAt: at };
    const fixedPrice = fixed.get(currency);
    if (fixedPrice) return { usd: fixedPrice, names: ['fixed'], quotedAt: at };
    const fresh = [...readings].flatMap(([source, prices]) =>
      prices
        .filter((price) => price.currency === currency && isFresh(price, source, at))
        .map((price) => ({ ...price, name: source.name, isDaily: source.isDaily })),
    );
    const agreed = withoutDaily(withoutOutliers(fresh));
    if (agreed.length === 0)
      throw new AppError('rate_unavailable', `there is no fresh rate for ${currency}: try again`);
    return {
      usd: median(agreed.map(({ usd }) => usd)),
      names: agreed.map(({ name }) => name),
      quotedAt: new Date(Math.min(at.getTime(), ...agreed.map((price) => price.at.getTime()))),
    };
  };

  return {
    refresh,
    start: () => {
      const stopping = new AbortController();
      const running = (async () => {
        while (!stopping.signal.aborted) {
          await refresh();
          await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
        }
      })();
      return {
        stop: async () => {
          stopping.abort();
          await running;
        },
      };
    },
    quote: async (base, currency, at) => {
      const [from, to] = [valueOf(base, at), valueOf(currency, at)];
      return {
        rate: crossRate(from.usd, to.usd),
        source: [...new Set([...from.names, ...to.names])].sort().join('+') || 'identity',
        quotedAt: from.quotedAt < to.quotedAt ? from.quotedAt : to.quotedAt,
      };
    },
  };
};

/** Keeps the latest prices of each source. `refresh` reads all sources once and never rejects. */
const readSources = ({ sources, read, now, log }: Pick<MarketOptions, 'sources' | 'read' | 'now' | 'log'>) => {
  const readings = new Map<RateSource, readonly Price[]>();
  const breakers = new Map(sources.map((source) => [source, circuitBreaker()]));
  const stale = new Set<RateSource>();

  /** Warns once when a source starts to return only prices that are not used, as the ECB does on weekends. */
  const watchAge = (source: RateSource, prices: readonly Price[]) => {
    if (prices.some((price) => isFresh(price, source, now()))) return void stale.delete(source);
    if (stale.has(source)) return;
    stale.add(source);
    const { name, maxAgeMs } = source;
    log.warn({ source: name, maxAgeMs, quotedAt: prices[0]?.at }, 'a rate source returns only stale prices');
  };

  const refreshOne = async (source: RateSource) => {
    const breaker = breakers.get(source)!;
    if (!breaker.allows(now())) return;
    try {
      const answers: Answer[] = [];
      for (const url of source.urls) answers.push(await read(url));
      const oldest = Math.min(now().getTime(), ...answers.map(({ at }) => at?.getTime() ?? Infinity));
      const prices = source.parse(
        answers.map(({ body }) => body),
        new Date(oldest),
      );
      if (prices.length === 0) throw new Error('the source returned no price');
      readings.set(source, prices);
      watchAge(source, prices);
      breaker.succeeded();
    } catch (error) {
      breaker.failed(now());
      log.warn({ err: error, source: source.name }, 'a rate source could not be read');
    }
  };
  const refresh = async () => void (await Promise.all(sources.map(refreshOne)));
  return { readings, refresh };
};

const isFresh = (price: Price, { maxAgeMs }: RateSource, at: Date): boolean => {
  const ageMs = at.getTime() - price.at.getTime();
  return ageMs >= -MAX_CLOCK_SKEW_MS && ageMs <= maxAgeMs;
};

/** The prices of the day, unless there are only daily ones. */
const withoutDaily = <T extends { readonly isDaily?: boolean | undefined }>(prices: readonly T[]): readonly T[] => {
  const current = prices.filter(({ isDaily }) => !isDaily);
  return current.length > 0 ? current : prices;
};

/** The prices near the median. If the only two prices disagree, none remains, because either may be wrong. */
const withoutOutliers = <T extends { readonly usd: Decimal; readonly name: string }>(prices: readonly T[]): T[] => {
  if (prices.length === 0) return [];
  const middle = median(prices.map(({ usd }) => usd));
  return prices.filter(({ usd }) => isNear(usd, middle, OUTLIER_PERCENT / (prices.length === 2 ? 2 : 1)));
};
