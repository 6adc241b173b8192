import type { LeasedReference, PaymentCurrency } from '@cpg/contracts';
import { ANY_AMOUNT, type Rail } from '../rail.ts';
import { type HostedOptions, hostedProvider, sandboxProvider } from './hosted.ts';
import { httpProvider, type ProviderSettings } from './http-provider.ts';
import type { OutsideProvider, ProviderAdapter } from './provider.ts';

/** Payments through providers: one payment page per order and provider. */
export const gatewayPay = ({ outside, own }: Providers): Rail => {
  const supporting = (currency: PaymentCurrency): readonly ProviderAdapter[] => {
    const found = outside.filter((provider) => provider.supports(currency));
    return found.length > 0 ? found : own.filter((provider) => provider.supports(currency));
  };
  return {
    supports: (currency) => supporting(currency).length > 0,
    requirePayable: async (order) => {
      for (const provider of supporting(order.currency)) await provider.requirePayable?.(order);
    },
    offerOf: async (currency) => {
      const offers = await Promise.all(
        supporting(currency).map(async (provider) => (await provider.offerOf?.(currency)) ?? ANY_AMOUNT),
      );
      // An order has a page of each provider, so all of them have to take it.
      return {
        isAvailable: offers.every(({ isAvailable }) => isAvailable),
        smallestMinor: offers.map(({ smallestMinor }) => smallestMinor).reduce((a, b) => (a > b ? a : b)),
        assets: offers.flatMap(({ assets }) => assets),
      };
    },
    assignInstructions: (order) =>
      Promise.all(
        supporting(order.currency).map(async (provider) => {
          const { reference, paymentUrl, qrContent, deposits } = await provider.registerOrder(order);
          return {
            rail: 'gateway_pay' as const,
            currency: order.currency,
            provider: provider.name,
            paymentReference: reference,
            paymentUrl,
            ...(qrContent !== undefined && { qrContent }),
            ...(deposits && { deposits }),
          };
        }),
      ),
  };
};

/** `count` references of each provider, none of which an order has. Null unless every provider can give them. */
export const leaseReferences =
  ({ outside, own }: Providers) =>
  (count: number): Record<string, LeasedReference[]> | null => {
    const providers: readonly ProviderAdapter[] = [...outside, ...own];
    const leased = providers.flatMap(({ name, newReference }) =>
      newReference ? [[name, Array.from({ length: count }, newReference)] as const] : [],
    );
    const isComplete = providers.length > 0 && leased.length === providers.length;
    return isComplete ? Object.fromEntries(leased) : null;
  };

/** The providers that take `gateway_pay`. */
interface Providers {
  readonly outside: readonly OutsideProvider[];
  /** This gateway itself, for the currencies that no outside provider supports. */
  readonly own: readonly ProviderAdapter[];
}

export interface ProvidersConfig {
  readonly ENVIRONMENT: 'sandbox' | 'production';
  readonly PUBLIC_URL: string;
  readonly providers: readonly ProviderSettings[];
}

export const openProviders = (
  { ENVIRONMENT, PUBLIC_URL: publicUrl, providers }: ProvidersConfig,
  behindPages: Pick<HostedOptions, 'networks' | 'deposits'>,
  now: () => Date,
): Providers => {
  const pages = { ...behindPages, publicUrl };
  return {
    outside: providers.map((settings) => httpProvider({ ...settings, publicUrl, now })),
    own:
      ENVIRONMENT === 'sandbox' ? [sandboxProvider(pages)] : pages.networks.length > 0 ? [hostedProvider(pages)] : [],
  };
};
