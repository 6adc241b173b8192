import { type AssetTable, payableStep } from '@cpg/assets';
import {
  type AcceptedCurrency,
  type Availability,
  type CurrencyRail,
  fromMinor,
  isAppError,
  ItemCurrency,
  parseDecimal,
  PaymentCurrency,
  PaymentRail,
  type PayableCurrencies,
  priceDecimals,
  type PriceLimit,
  type RailOffer,
  type Scales,
  toMinorRoundedUp,
} from '@cpg/contracts';
import { priceLimits } from '../order/pricing.ts';
import { quoteOf, type RateProvider } from '../rates/rates.ts';

interface PayableCurrenciesOptions {
  readonly rates: RateProvider;
  /** What the rails take now. */
  readonly availability: () => Promise<Availability>;
  readonly assets: AssetTable;
  /** Of new orders. */
  readonly scales: Scales;
  readonly now: () => Date;
}

/** Finds the currencies in which new orders can be paid, with what an order may cost at the rates of now. */
export type FindPayableCurrencies = () => Promise<PayableCurrencies>;

export const payableCurrencies =
  ({ rates, availability, assets, scales, now }: PayableCurrenciesOptions): FindPayableCurrencies =>
  async () => {
    const { offers } = await availability();
    const at = now();
    const currencies = PaymentCurrency.options.map(async (currency): Promise<AcceptedCurrency> => {
      const quoted = await ratesInto(currency, rates, at);
      const terms = { decimals: scales[currency], stepMinor: payableStep(assets, currency, scales[currency]) };
      const rails = PaymentRail.options.flatMap((rail) => {
        const offer = offers[rail].find((each) => each.currency === currency);
        return offer ? [railOf(rail, offer, { ...terms, quoted })] : [];
      });
      return { currency, decimals: terms.decimals, rails };
    });
    return { payment_currencies: await Promise.all(currencies) };
  };

/** What is the same for all rails of a currency. */
interface Terms {
  readonly decimals: number;
  readonly stepMinor: bigint;
  readonly quoted: ReadonlyMap<ItemCurrency, string>;
}

const railOf = (rail: PaymentRail, offer: RailOffer, { decimals, stepMinor, quoted }: Terms): CurrencyRail => {
  const smallestMinor = toMinorRoundedUp(parseDecimal(offer.minimum_amount), decimals);
  const limits = [...quoted].flatMap(([currency, rate]): PriceLimit[] => {
    const scale = priceDecimals(currency);
    const found = priceLimits({ rate, priceDecimals: scale, decimals, stepMinor, smallestMinor });
    // At this rate, the smallest amount that the rail takes is above the largest amount of an order.
    if (!found) return [];
    const [minimum, maximum] = [fromMinor(found.minimum, scale), fromMinor(found.maximum, scale)];
    return [{ currency, minimum_amount: minimum, maximum_amount: maximum }];
  });
  const reason = !offer.is_available ? 'network_unavailable' : limits.length === 0 ? 'rate_unavailable' : undefined;
  return {
    rail,
    is_available: reason === undefined,
    ...(reason && { unavailable_reason: reason }),
    networks: offer.networks,
    limits,
  };
};

/** The rates from each item currency into `currency`, of those that have one now. */
const ratesInto = async (
  currency: PaymentCurrency,
  rates: RateProvider,
  at: Date,
): Promise<ReadonlyMap<ItemCurrency, string>> => {
  const quotes = await Promise.all(
    ItemCurrency.options.map(async (base) => {
      try {
        return [[base, (await quoteOf(rates, base, currency, at)).rate] as const];
      } catch (error) {
        if (isAppError(error, 'rate_unavailable')) return [];
        throw error;
      }
    }),
  );
  return new Map(quotes.flat());
};
