import { z } from 'zod';
import { PaymentCurrency, PaymentRail } from '../currencies.ts';
import { MerchantId, Timestamp } from '../ids.ts';
import { MetadataDto } from './metadata.ts';

export const Address = z.object({
  street: z.string(),
  city: z.string(),
  state: z.string(),
  postal_code: z.string(),
  country: z.string().describe('ISO 3166-1 alpha-2 code.'),
});

export const IndividualProfile = z.object({
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  phone: z.string().optional(),
});

export const BusinessProfile = z.object({
  business_name: z.string(),
  contact_email: z.string(),
  contact_phone: z.string().optional(),
  address: Address.optional(),
});

export const PaymentMethod = z.object({
  type: PaymentRail,
  supported_currencies: z.array(PaymentCurrency),
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

const AddressDto = z.strictObject({
  street: z.string().min(1),
  city: z.string().min(1),
  state: z.string().min(1),
  postal_code: z.string().min(1),
  country: z.string().regex(/^[A-Z]{2}$/, { error: 'must be an ISO 3166-1 alpha-2 code' }),
});

const IndividualProfileDto = z.strictObject({
  first_name: z.string().min(1),
  last_name: z.string().min(1),
  email: z.email(),
  phone: z.string().min(1).optional(),
});

const BusinessProfileDto = z.strictObject({
  business_name: z.string().min(1),
  contact_email: z.email(),
  contact_phone: z.string().min(1).optional(),
  address: AddressDto.optional(),
});

const PaymentMethodDto = z.strictObject({
  type: PaymentRail,
  supported_currencies: z.array(PaymentCurrency).min(1),
  deposit_instructions: z.record(z.string(), z.json()),
});

export const CreateMerchantDto = z
  .strictObject({
    type: MerchantType,
    external_reference_id: z.string().min(1).max(128),
    individual_profile: IndividualProfileDto.optional(),
    business_profile: BusinessProfileDto.optional(),
    payment_methods: z.array(PaymentMethodDto).min(1),
    metadata: MetadataDto,
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
