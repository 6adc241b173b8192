import { z } from 'zod';
import { ItemCurrency, PaymentCurrency, PaymentRail } from '../currencies.ts';
import { withExample } from '../example.ts';
import { Amount, Decimals } from '../money.ts';

/** The code of the error that a create would get. */
export const UnavailableReason = z.enum(['rate_unavailable', 'network_unavailable']);
export type UnavailableReason = z.infer<typeof UnavailableReason>;

const Availability = {
  is_available: z.boolean().describe('Whether new orders can use it now.'),
  unavailable_reason: UnavailableReason.optional().describe('Why they cannot. Absent if they can.'),
};

const CurrencyDecimals = Decimals.describe('The most decimals that its amounts may have.');

export const PriceCurrency = z.object({
  currency: ItemCurrency.describe('A currency of prices.'),
  decimals: CurrencyDecimals,
  ...Availability,
});

/** What the items of an order may cost in one price currency, at the rate of now. */
export const PriceLimit = z.object({
  currency: ItemCurrency.describe('The currency of the prices.'),
  minimum_amount: Amount.describe('The smallest sum of the items. A smaller one is refused with `amount_too_small`.'),
  maximum_amount: Amount.describe(
    'The largest sum of the items that can be recorded. It is no limit of the network or of the merchant.',
  ),
});
export type PriceLimit = z.infer<typeof PriceLimit>;

export const RailNetwork = z.object({
  network: z.string().describe('The network, such as `base`.'),
  chain_id: z.string().describe('The chain of the network (CAIP-2).'),
  asset: z.string().describe('The token or coin that is paid with (CAIP-19).'),
  asset_label: z.string().optional().describe('The name that wallets show for it, if it is not the currency.'),
  minimum_amount: Amount.describe('The smallest total that can be paid on this network.'),
  is_available: z.boolean().describe('Whether new orders are offered this network now.'),
});

export const CurrencyRail = z.object({
  rail: PaymentRail.describe('The rail.'),
  ...Availability,
  networks: z
    .array(RailNetwork)
    .describe('The networks on which the rail takes the currency. Empty for a provider that keeps its own.'),
  limits: z
    .array(PriceLimit)
    .describe('What an order may cost, by price currency. A price currency without a rate is absent.'),
});
export type CurrencyRail = z.infer<typeof CurrencyRail>;

export const AcceptedCurrency = z.object({
  currency: PaymentCurrency.describe('A currency that orders are paid in.'),
  decimals: CurrencyDecimals,
  rails: z.array(CurrencyRail).describe('The rails on which the merchant accepts it.'),
});
export type AcceptedCurrency = z.infer<typeof AcceptedCurrency>;

export const Currencies = withExample(
  z.object({
    price_currencies: z.array(PriceCurrency).describe('Every currency that prices may be in.'),
    payment_currencies: z.array(AcceptedCurrency).describe('The currencies that the merchant accepts.'),
  }),
  {
    price_currencies: [
      { currency: 'MXN', decimals: 2, is_available: true },
      { currency: 'JPY', decimals: 0, is_available: false, unavailable_reason: 'rate_unavailable' },
    ],
    payment_currencies: [
      {
        currency: 'USDC',
        decimals: 6,
        rails: [
          {
            rail: 'crypto_deposit',
            is_available: true,
            networks: [
              {
                network: 'base',
                chain_id: 'eip155:8453',
                asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
                minimum_amount: '0.010000',
                is_available: true,
              },
            ],
            limits: [{ currency: 'MXN', minimum_amount: '0.18', maximum_amount: '17818959372772629960.29' }],
          },
        ],
      },
    ],
  },
);
export type Currencies = z.infer<typeof Currencies>;
