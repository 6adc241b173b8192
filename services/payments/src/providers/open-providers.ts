import type { Config } from '../config.ts';
import { type HostedOptions, sandboxProvider } from './hosted.ts';
import { httpProvider } from './http-provider.ts';
import type { OutsideProvider, ProviderAdapter } from './provider.ts';

/** Who takes `gateway_pay`. */
export interface Providers {
  readonly outside: readonly OutsideProvider[];
  /** This gateway itself, for the currencies that no outside provider supports. */
  readonly own: readonly ProviderAdapter[];
}

export const openProviders = (
  { ENVIRONMENT, PUBLIC_URL: publicUrl, providers }: Pick<Config, 'ENVIRONMENT' | 'PUBLIC_URL' | 'providers'>,
  hosted: Pick<HostedOptions, 'networks' | 'assignDeposits'>,
  now: () => Date,
): Providers => ({
  outside: providers.map((settings) => httpProvider({ ...settings, publicUrl, now })),
  own: ENVIRONMENT === 'sandbox' ? [sandboxProvider({ ...hosted, publicUrl })] : [],
});
