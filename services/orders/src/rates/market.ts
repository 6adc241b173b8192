import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, type Decimal, parseDecimal } from '@cpg/contracts';
import type { Logger } from '@cpg/platform';
import { crossRate } from '../order/pricing.ts';
import type { AcceptedPrice, AcceptedPrices } from './accepted-prices.ts';
import { believed, type FreshPrice, median } from './agreement.ts';
import type { RateProvider } from './rates.ts';
import { HOUR_MS, type Price, type PricedCurrency, type RateSource, type ReadUrl } from './sources/source.ts';

export interface MarketOptions {
  readonly sources: readonly RateSource[];
  /** Fixed prices in US dollars, set by the operator: for a token without a market, or a stablecoin that is taken at
   *  one dollar. */
  readonly fixed: ReadonlyMap<PricedCurrency, Decimal>;
  /** The names of the sources of a currency, set by the operator. By default all sources that price it. */
  readonly sourcesOf?: ReadonlyMap<PricedCurrency, readonly string[]>;
  readonly accepted: AcceptedPrices;
  readonly read: ReadUrl;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  readonly log: Logger;
  readonly everyMs?: number;
}

interface QuotedPrice extends FreshPrice {
  readonly at: Date;
}

const REFRESH_INTERVAL_MS = 60_000;
/** How far the clock of a source may be ahead of ours. */
const MAX_CLOCK_SKEW_MS = 60_000;
/** How long the next price of a source is compared with its last believed one. */
const ACCEPTED_FOR_MS = 24 * HOUR_MS;

const ONE_DOLLAR = parseDecimal('1');
/** The dollars that stablecoins promise. A peg is no price: it only lets a single source be believed. */
const PEGS: ReadonlyMap<PricedCurrency, Decimal> = new Map([
  ['USDT', ONE_DOLLAR],
  ['USDC', ONE_DOLLAR],
  ['USDG', ONE_DOLLAR],
]);

/** Market rates, computed through the US dollar. The dollar price of a currency is the median of the fresh prices that
 *  can be believed: see `believed`. The price of a daily source checks other prices, and counts only where there is no
 *  other. Sources are read in the background, independently; a circuit breaker pauses a source that keeps failing. */
export const marketRates = (
  options: MarketOptions,
): RateProvider & { refresh: () => Promise<void>; start: () => { stop: () => Promise<void> } } => {
  const { sources, fixed, accepted, now, log, everyMs = REFRESH_INTERVAL_MS } = options;
  const sourcesOf = options.sourcesOf ?? new Map<PricedCurrency, readonly string[]>();
  const sourceNamesOf = (currency: PricedCurrency): readonly string[] =>
    sourcesOf.get(currency) ?? sources.filter((each) => each.currencies.includes(currency)).map(({ name }) => name);
  const currenciesOf = ({ name, currencies }: RateSource): PricedCurrency[] =>
    currencies.filter((currency) => !fixed.has(currency) && sourceNamesOf(currency).includes(name));
  const { readings, refresh: readAll } = readSources({ ...options, currenciesOf });
  /** By currency, then by source. Null until they are loaded: a source that is alone is then believed only at a peg, or
   *  if the operator named no other. */
  let lastAccepted: LastAccepted | null = null;

  const pricesOf = (currency: PricedCurrency, at: Date): readonly QuotedPrice[] =>
    believed(freshPrices(readings, currency, at), {
      accepted: recentPrices(lastAccepted?.get(currency), at),
      peg: PEGS.get(currency),
      hasSingleSource: sourcesOf.get(currency)?.length === 1,
    });

  const valueOf = (currency: PricedCurrency, at: Date): DollarValue => {
    if (currency === 'USD') return { usd: ONE_DOLLAR, sourceNames: [], quotedAt: at };
    const fixedPrice = fixed.get(currency);
    if (fixedPrice) return { usd: fixedPrice, sourceNames: ['fixed'], quotedAt: at };
    const prices = pricesOf(currency, at);
    if (prices.length === 0)
      throw new AppError('rate_unavailable', `no fresh rate for ${currency} can be believed now: try again`);
    return medianValue(prices, at);
  };

  /** Stores the prices that are believed now: the next ones are compared with them. */
  const accept = async (): Promise<void> => {
    const at = now();
    const currencies = [...new Set(sources.flatMap(currenciesOf))];
    const prices = currencies.flatMap((currency) =>
      pricesOf(currency, at).map(({ source, usd }): AcceptedPrice => ({ currency, source, usd, at })),
    );
    lastAccepted = bySource([...[...lastAccepted!.values()].flatMap((each) => [...each.values()]), ...prices]);
    await accepted.save(prices);
  };

  const refresh = async (): Promise<void> => {
    await readAll();
    try {
      lastAccepted ??= bySource(await accepted.load());
      await accept();
    } catch (error) {
      log.warn({ err: error }, 'the accepted prices could not be loaded or stored, retrying');
    }
  };

  return {
    refresh,
    start: () => repeatedly(refresh, everyMs),
    quote: async (base, currency, at) => {
      const [ofBase, ofCurrency] = [valueOf(base, at), valueOf(currency, at)];
      return {
        // Units of `currency` for one unit of `base`.
        rate: crossRate(ofBase.usd, ofCurrency.usd),
        source: [...new Set([...ofBase.sourceNames, ...ofCurrency.sourceNames])].sort().join('+') || 'identity',
        quotedAt: ofBase.quotedAt < ofCurrency.quotedAt ? ofBase.quotedAt : ofCurrency.quotedAt,
      };
    },
  };
};

/** The price of a currency in US dollars, and the sources that it comes from. */
interface DollarValue {
  readonly usd: Decimal;
  readonly sourceNames: readonly string[];
  readonly quotedAt: Date;
}

const medianValue = (prices: readonly QuotedPrice[], at: Date): DollarValue => ({
  usd: median(prices.map(({ usd }) => usd)),
  sourceNames: prices.map(({ source }) => source),
  quotedAt: new Date(Math.min(at.getTime(), ...prices.map((price) => price.at.getTime()))),
});

const freshPrices = (
  readings: ReadonlyMap<RateSource, readonly Price[]>,
  currency: PricedCurrency,
  at: Date,
): readonly QuotedPrice[] =>
  [...readings].flatMap(([source, prices]) =>
    prices
      .filter((price) => price.currency === currency && isFresh(price, source, at))
      .map((price): QuotedPrice => ({ ...price, source: source.name, isDaily: source.isDaily })),
  );

/** Calls `refresh` with a pause of `everyMs` after each call, until it is stopped. */
const repeatedly = (refresh: () => Promise<void>, everyMs: number): { stop: () => Promise<void> } => {
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
};

type LastAccepted = ReadonlyMap<PricedCurrency, ReadonlyMap<string, AcceptedPrice>>;

/** The last accepted price of each source, by currency. */
const bySource = (prices: readonly AcceptedPrice[]): LastAccepted => {
  const byCurrency = new Map<PricedCurrency, Map<string, AcceptedPrice>>();
  for (const price of prices) {
    const ofCurrency = byCurrency.get(price.currency) ?? new Map<string, AcceptedPrice>();
    byCurrency.set(price.currency, ofCurrency.set(price.source, price));
  }
  return byCurrency;
};

/** The accepted US dollar prices that are recent enough to compare with, by source. */
const recentPrices = (last: ReadonlyMap<string, AcceptedPrice> | undefined, at: Date): Map<string, Decimal> =>
  new Map(
    [...(last ?? [])]
      .filter(([, accepted]) => at.getTime() - accepted.at.getTime() <= ACCEPTED_FOR_MS)
      .map(([source, { usd }]) => [source, usd]),
  );

type SourceReaderOptions = Pick<MarketOptions, 'sources' | 'read' | 'now' | 'nowMs' | 'log'> & {
  readonly currenciesOf: (source: RateSource) => readonly PricedCurrency[];
};

/** Keeps the latest prices of each source. `refresh` reads all sources once and never rejects. */
const readSources = ({
  sources,
  currenciesOf,
  read,
  now,
  nowMs = () => performance.now(),
  log,
}: SourceReaderOptions) => {
  const readings = new Map<RateSource, readonly Price[]>();
  const breakers = new Map(sources.map((source) => [source, circuitBreaker()]));
  const stale = new Set<RateSource>();
  const readAtMs = new Map<RateSource, number>();
  const isDue = (source: RateSource): boolean =>
    nowMs() - (readAtMs.get(source) ?? -Infinity) >= (source.readEveryMs ?? 0);

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
    const wanted = currenciesOf(source);
    if (wanted.length === 0 || !isDue(source) || !breaker.allows(nowMs())) return;
    try {
      const prices = await source.prices(read, wanted, now());
      if (prices.length === 0) throw new Error('the source returned no price');
      readings.set(source, prices);
      readAtMs.set(source, nowMs());
      watchAge(source, prices);
      breaker.succeeded();
    } catch (error) {
      breaker.failed(nowMs());
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

/** A circuit breaker. It is closed while calls succeed, and open for a pause after too many failures in a row. After
 *  the pause it is half-open: calls are allowed, and the first that ends closes it or opens it again. Callers make one
 *  call at a time. Times are of a monotonic clock. */
export interface CircuitBreaker {
  /** False while it is open. */
  readonly allows: (nowMs: number) => boolean;
  readonly succeeded: () => void;
  readonly failed: (nowMs: number) => void;
}

/** Opens for `pauseMs` after `failuresToOpen` failures in a row; each further failure doubles the pause, up to
 *  `maxPauseMs`. */
export const circuitBreaker = ({ failuresToOpen = 3, pauseMs = 15_000, maxPauseMs = 60_000 } = {}): CircuitBreaker => {
  let failures = 0;
  let openUntilMs = -Infinity;
  return {
    allows: (nowMs) => nowMs >= openUntilMs,
    succeeded: () => {
      failures = 0;
      openUntilMs = -Infinity;
    },
    failed: (nowMs) => {
      failures += 1;
      if (failures >= failuresToOpen)
        openUntilMs = nowMs + Math.min(maxPauseMs, pauseMs * 2 ** (failures - failuresToOpen));
    },
  };
};
