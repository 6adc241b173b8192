import type { Config } from '../../config.ts';
import { hostedProvider, type HostedOptions, sandboxProvider } from './hosted.ts';
import { httpProvider } from './http-provider.ts';
import type { OutsideProvider, ProviderAdapter } from './provider.ts';

/** Who takes `gateway_pay`. */
export interface Providers {
  readonly outside: readonly OutsideProvider[];
  /** This gateway itself, for the currencies that no outside provider supports. */
  readonly own: readonly ProviderAdapter[];
}

type ProvidersConfig = Pick<Config, 'ENVIRONMENT' | 'PUBLIC_URL' | 'providers'>;

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
