import { OWN_PROVIDERS, PaymentCurrency } from '@cpg/contracts';
import { Secret } from '@cpg/platform';
import { z } from 'zod';

/** The names of the providers that this gateway has itself, and of the chains: payment ids begin with them. */
const OWN_NAMES = [...OWN_PROVIDERS, 'bip122', 'eip155'];
const MAX_SECRETS = 2;

/** An outside provider. It speaks the protocol of `docs/payment-providers.md`. */
export const ProviderSettings = z.strictObject({
  /** Part of paths, instructions and payment ids: never give it to another provider. */
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,31}$/, { error: 'must be 1 to 32 lowercase letters, digits and hyphens' })
    .refine((name) => !OWN_NAMES.includes(name), {
      error: `must not be ${OWN_NAMES.join(', ')}: the gateway uses these names itself`,
    }),
  url: z
    .url({ protocol: /^https?$/, error: 'must be an https:// address' })
    .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), {
      error: 'must have no user name and no password: both sides sign',
    })
    .transform((url) => url.replace(/(?<!\/)\/+$/, '')),
  currencies: z.array(PaymentCurrency).min(1),
  /** The first one signs requests to the provider; both verify its callbacks. */
  secrets: z.array(Secret).min(1).max(MAX_SECRETS),
});
export type ProviderSettings = z.infer<typeof ProviderSettings>;

export const ProvidersFile = z
  .strictObject({ providers: z.array(ProviderSettings) })
  .refine(({ providers }) => new Set(providers.map(({ name }) => name)).size === providers.length, {
    path: ['providers'],
    error: 'two providers have the same name',
  })
  .refine(({ providers }) => !isSecretShared(providers), {
    path: ['providers'],
    error: 'two providers have the same secret: each could sign for the other one',
  });

const isSecretShared = (providers: readonly ProviderSettings[]): boolean => {
  const ofEach = providers.flatMap(({ secrets }) => [...new Set(secrets)]);
  return new Set(ofEach).size < ofEach.length;
};
