import { z } from 'zod';
import { PaymentCurrency, PaymentRail } from '../currencies.ts';
import { MerchantId, Timestamp } from '../ids.ts';
import { Metadata } from './metadata.ts';

export const Address = z.strictObject({
  street: z.string().min(1),
  city: z.string().min(1),
  state: z.string().min(1),
  postal_code: z.string().min(1),
  country: z.string().regex(/^[A-Z]{2}$/, { error: 'must be an ISO 3166-1 alpha-2 code' }),
});

export const IndividualProfile = z.strictObject({
  first_name: z.string().min(1),
  last_name: z.string().min(1),
  email: z.email(),
  phone: z.string().min(1).optional(),
});

export const BusinessProfile = z.strictObject({
  business_name: z.string().min(1),
  contact_email: z.email(),
  contact_phone: z.string().min(1).optional(),
  address: Address.optional(),
});

export const PaymentMethod = z.strictObject({
  type: PaymentRail,
  supported_currencies: z.array(PaymentCurrency).min(1),
  deposit_instructions: z.record(z.string(), z.json()),
});
export type PaymentMethod = z.infer<typeof PaymentMethod>;

export const MerchantType = z.enum(['individual', 'business']);

export const Merchant = z.object({
  id: MerchantId,
  external_reference_id: z.string(),
  type: MerchantType,
  payment_methods: z.array(PaymentMethod),
  individual_profile: IndividualProfile.optional(),
  business_profile: BusinessProfile.optional(),
  created_at: Timestamp,
  updated_at: Timestamp.optional(),
});
export type Merchant = z.infer<typeof Merchant>;

export const CreateMerchantDto = z
  .strictObject({
    type: MerchantType,
    external_reference_id: z.string().min(1).max(128),
    individual_profile: IndividualProfile.optional(),
    business_profile: BusinessProfile.optional(),
    payment_methods: z.array(PaymentMethod).min(1),
    metadata: Metadata,
  })
  .superRefine((merchant, context) => {
    const [own, other] =
      merchant.type === 'individual'
        ? (['individual_profile', 'business_profile'] as const)
        : (['business_profile', 'individual_profile'] as const);
    if (!merchant[own])
      context.addIssue({ code: 'custom', path: [own], message: `is required when type is ${merchant.type}` });
    if (merchant[other])
      context.addIssue({ code: 'custom', path: [other], message: `is not allowed when type is ${merchant.type}` });
  });
export type CreateMerchantDto = z.infer<typeof CreateMerchantDto>;
