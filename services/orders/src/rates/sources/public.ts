import { bitso } from './bitso.ts';
import { coinbase } from './coinbase.ts';
import { ecb } from './ecb.ts';
import { erapi } from './erapi.ts';
import { kraken } from './kraken.ts';
import { HOUR_MS, MINUTE_MS, type RateSource } from './source.ts';

export const PUBLIC_SOURCES: readonly RateSource[] = [kraken, coinbase, bitso, ecb, erapi];

const UNITS_MS: Record<string, number> = { m: MINUTE_MS, h: HOUR_MS };
const LONGEST_MS = 7 * 24 * HOUR_MS;

/** Parses the age limit of a source: `ecb=100h`, `kraken=5m`. Null unless the source is known and the limit is one
 *  minute to seven days. */
export const parseMaxAge = (text: string): [source: string, maxAgeMs: number] | null => {
  const [, name = '', count = '', unit = ''] = /^\s*([a-z]+)\s*=\s*(\d{1,5})([mh])\s*$/.exec(text) ?? [];
  const maxAgeMs = Number(count) * (UNITS_MS[unit] ?? 0);
  const isKnown = PUBLIC_SOURCES.some((source) => source.name === name);
  return isKnown && maxAgeMs > 0 && maxAgeMs <= LONGEST_MS ? [name, maxAgeMs] : null;
};

/** The public sources with the operator's age limits. */
export const publicSources = (maxAges: ReadonlyMap<string, number>): RateSource[] =>
  PUBLIC_SOURCES.map((source) => ({ ...source, maxAgeMs: maxAges.get(source.name) ?? source.maxAgeMs }));
