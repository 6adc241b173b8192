import { z } from 'zod';
import { PaymentCurrency, PaymentRail } from '../currencies.ts';
import { Capabilities, CAPABILITIES_EXAMPLE, CapabilitiesDto } from './capabilities.ts';
import { choicesOf } from './choices.ts';

const EnabledRails = choicesOf(PaymentRail, 'a rail');

const TEXTS = {
  enable_rails: 'How the payer may pay. Each rail at most once.',
  payment_currency: 'The currency in which the order is paid.',
  capabilities: 'What may happen to the order.',
};
const FROM_DEFAULTS = ' By default that of your `order_defaults`; required without one.';

/** The fields of a request to create an order for which a merchant can have a default. */
export const DefaultedFields = {
  enable_rails: EnabledRails.optional().meta({
    description: TEXTS.enable_rails + FROM_DEFAULTS,
    example: ['crypto_deposit'],
  }),
  payment_currency: PaymentCurrency.optional().meta({
    description: TEXTS.payment_currency + FROM_DEFAULTS,
    example: 'USDC',
  }),
  capabilities: CapabilitiesDto.optional().meta({
    description: TEXTS.capabilities + FROM_DEFAULTS,
    example: CAPABILITIES_EXAMPLE,
  }),
};

/** What new orders get for fields that the request leaves out. A field of the request replaces its default as a
 *  whole. */
export const OrderDefaults = z.object({
  enable_rails: z.array(PaymentRail).optional().describe(TEXTS.enable_rails),
  payment_currency: PaymentCurrency.optional().describe(TEXTS.payment_currency),
  capabilities: Capabilities.optional().describe(TEXTS.capabilities),
});
export type OrderDefaults = z.infer<typeof OrderDefaults>;

/** All defaulted fields, each from the request or from the defaults. */
export type CompleteDefaults = { readonly [K in keyof OrderDefaults]-?: Exclude<OrderDefaults[K], undefined> };

/** The defaults in a request: stricter than the stored ones, so that rules may change without making these invalid. */
export const OrderDefaultsDto = z.strictObject({
  enable_rails: EnabledRails.optional().describe(TEXTS.enable_rails),
  payment_currency: PaymentCurrency.optional().describe(TEXTS.payment_currency),
  capabilities: CapabilitiesDto.optional().describe(TEXTS.capabilities),
});
