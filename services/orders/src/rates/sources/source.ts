import { type Decimal, type ItemCurrency, parseDecimal, type PaymentCurrency } from '@cpg/contracts';
import { request } from 'undici';
import { crossRate } from '../../order/pricing.ts';

/** A currency that sources price in US dollars. */
export type PricedCurrency = ItemCurrency | PaymentCurrency;

/** The price of one unit of a currency in US dollars, and the source's own time of the quote. */
export interface Price {
  readonly currency: PricedCurrency;
  readonly usd: Decimal;
  readonly at: Date;
}

/** Reads a URL. Rejects unless the whole body arrives in time. */
export type ReadUrl = (url: string) => Promise<Answer>;

/** A public source of prices. */
export interface RateSource {
  readonly name: string;
  /** The currencies that it prices. */
  readonly currencies: readonly PricedCurrency[];
  /** The age at which its prices become stale, unless RATE_MAX_AGES sets another one. */
  readonly maxAgeMs: number;
  /** How long to wait after its prices were read, if longer than for the other sources. */
  readonly readEveryMs?: number;
  /** It publishes once a day or once a working day. Its prices check those of other sources. They are used only where no
   *  other source has a fresh one. */
  readonly isDaily?: boolean;
  /** The prices of some of its currencies, asked at `now`. Throws if an answer does not have the documented shape.
   *  Omits a price that is not a plain positive number, so that one bad row costs no other. */
  readonly prices: (read: ReadUrl, currencies: readonly PricedCurrency[], now: Date) => Promise<Price[]>;
}

/** When an answer was made: a cache may have kept it, and its clock may be ahead of ours. */
export const madeAt = ({ at }: Answer, now: Date): Date => (at && at < now ? at : now);

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

const TIMEOUT_MS = 4_000;
const MAX_BYTES = 2 * 1024 * 1024;

/** The body of a public URL as text, and when the server made it. */
export interface Answer {
  readonly body: string;
  /** By the server's clock, from the header `Date`: a cache may keep an answer for long. */
  readonly at?: Date;
}

/** Reads a public URL. Rejects unless the answer has status 200, is complete within 4 s and has at most 2 MiB. */
export const readUrl = async (url: string): Promise<Answer> => {
  const { statusCode, headers, body } = await request(url, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { accept: 'application/json, application/xml', 'user-agent': 'crypto-payment-gateway' },
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
  const at = new Date(String(headers.date));
  return { body: Buffer.concat(chunks).toString('utf8'), ...(!Number.isNaN(at.getTime()) && { at }) };
};

const ONE: Decimal = { units: 1n, scale: 0 };

/** Parses the price of a source. Null unless it is a plain positive decimal number. */
export const positive = (text: unknown): Decimal | null => {
  if (typeof text !== 'string' || !/^\d{1,30}(\.\d{1,30})?$/.test(text)) return null;
  const value = parseDecimal(text);
  return value.units > 0n ? value : null;
};

/** a / b and 1 / a, to 18 decimals. */
export const divide = (a: Decimal, b: Decimal): Decimal => parseDecimal(crossRate(a, b));
export const invert = (a: Decimal): Decimal => divide(ONE, a);
