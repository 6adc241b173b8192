import { z } from 'zod';
import { withExample } from '../example.ts';
import { PaymentCurrency, PaymentRail } from '../currencies.ts';
import { CreatedAt, EXAMPLE_IDS, MerchantId, UpdatedAt } from '../ids.ts';
import { MetadataDto } from './metadata.ts';
import { OrderDefaults, OrderDefaultsDto } from './order-defaults.ts';
import { visibleLine } from './text.ts';

export const Address = z.object({
  street: z.string().describe('Street and number.'),
  city: z.string().describe('City or town.'),
  state: z.string().describe('State, province or region.'),
  postal_code: z.string().describe('Postal code.'),
  country: z.string().describe('ISO 3166-1 alpha-2 code.'),
});

export const IndividualProfile = z.object({
  first_name: z.string().describe('First name.'),
  last_name: z.string().describe('Last name.'),
  email: z.string().describe('Email address.'),
  phone: z.string().optional().describe('Phone number.'),
});

export const BusinessProfile = z.object({
  business_name: z.string().describe('The name of the business.'),
  contact_email: z.string().describe('The email address for questions.'),
  contact_phone: z.string().optional().describe('The phone number for questions.'),
  address: Address.optional().describe('The address of the business.'),
});

export const PaymentMethod = z.object({
  type: PaymentRail.describe('The rail.'),
  supported_currencies: z.array(PaymentCurrency).describe('The currencies that the merchant accepts on this rail.'),
  deposit_instructions: z.record(z.string(), z.json()).describe('Settings of the rail for you. Empty if it has none.'),
});
export type PaymentMethod = z.infer<typeof PaymentMethod>;

export const MerchantType = z.enum(['individual', 'business']);

export const Merchant = withExample(
  z.object({
    id: MerchantId.describe('The merchant: `mer_` and a ULID.'),
    external_reference_id: z.string().describe('The id of the merchant in an external system.'),
    type: MerchantType.describe('Whether the merchant is a person or a business.'),
    payment_methods: z
      .array(PaymentMethod)
      .describe(
        'The rails and currencies that the merchant accepts, without those that are unavailable at the moment.',
      ),
    order_defaults: OrderDefaults.describe('What new orders get for fields that their requests leave out.'),
    individual_profile: IndividualProfile.optional().describe('Present only if `type` is `individual`.'),
    business_profile: BusinessProfile.optional().describe('Present only if `type` is `business`.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt.optional(),
  }),
  {
    id: EXAMPLE_IDS.merchant,
    external_reference_id: 'crm-7731',
    type: 'business',
    payment_methods: [{ type: 'crypto_deposit', supported_currencies: ['USDC', 'BTC'], deposit_instructions: {} }],
    order_defaults: { enable_rails: ['crypto_deposit'], payment_currency: 'USDC' },
    business_profile: { business_name: 'La Fonda', contact_email: 'hola@lafonda.example' },
    created_at: '2026-01-02T09:30:00.000Z',
  },
);
export type Merchant = z.infer<typeof Merchant>;

const AddressDto = z.strictObject({
  street: visibleLine(200).describe('Street and number.'),
  city: visibleLine(100).describe('City or town.'),
  state: visibleLine(100).describe('State, province or region.'),
  postal_code: visibleLine(20).describe('Postal code.'),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, { error: 'must be an ISO 3166-1 alpha-2 code' })
    .describe('ISO 3166-1 alpha-2 code.'),
});

const Email = z.email().max(254);
const Phone = visibleLine(40);

const IndividualProfileDto = z.strictObject({
  first_name: visibleLine(60).describe('First name.'),
  last_name: visibleLine(60).describe('Last name.'),
  email: Email.describe('Email address.'),
  phone: Phone.optional().describe('Phone number.'),
});

const BusinessProfileDto = z.strictObject({
  business_name: visibleLine(120).describe('The name of the business.'),
  contact_email: Email.describe('The email address for questions.'),
  contact_phone: Phone.optional().describe('The phone number for questions.'),
  address: AddressDto.optional().describe('The address of the business.'),
});

const PaymentMethodDto = z.strictObject({
  type: PaymentRail,
  supported_currencies: z.array(PaymentCurrency).min(1),
  deposit_instructions: z.record(z.string(), z.json()),
});

export const CreateMerchantDto = withExample(
  z
    .strictObject({
      type: MerchantType,
      external_reference_id: z.string().min(1).max(128),
      individual_profile: IndividualProfileDto.optional(),
      business_profile: BusinessProfileDto.optional(),
      payment_methods: z.array(PaymentMethodDto).min(1),
      order_defaults: OrderDefaultsDto.optional(),
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
    }),
  {
    type: 'business',
    external_reference_id: 'crm-1042',
    business_profile: {
      business_name: 'Café Colibrí S.A.',
      contact_email: 'pagos@colibri.example',
    },
    payment_methods: [
      { type: 'crypto_deposit', supported_currencies: ['USDC', 'BTC'], deposit_instructions: {} },
      { type: 'gateway_pay', supported_currencies: ['USDC'], deposit_instructions: {} },
    ],
    metadata: {},
  },
);
export type CreateMerchantDto = z.infer<typeof CreateMerchantDto>;

export const UpdateIndividualProfileDto = withExample(
  IndividualProfileDto.partial().extend({
    phone: Phone.nullable().optional().describe('Phone number. `null` removes it.'),
  }),
  { phone: '+52 55 5555 0101' },
);

export const UpdateBusinessProfileDto = withExample(
  BusinessProfileDto.partial().extend({
    contact_phone: Phone.nullable().optional().describe('The phone number for questions. `null` removes it.'),
    address: AddressDto.nullable()
      .optional()
      .describe('The whole address of the business, which replaces the one before. `null` removes it.'),
  }),
  { business_name: 'La Fonda', contact_phone: null },
);

/** What a merchant changes itself. Everything else is for the operator. */
export const UpdateMerchantDto = z
  .strictObject({
    order_defaults: OrderDefaultsDto.optional().describe('All defaults. They replace those before: `{}` leaves none.'),
    individual_profile: UpdateIndividualProfileDto.optional().describe(
      'The fields of the profile to change, if `type` is `individual`.',
    ),
    business_profile: UpdateBusinessProfileDto.optional().describe(
      'The fields of the profile to change, if `type` is `business`.',
    ),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: 'must have order_defaults, individual_profile or business_profile',
  })
  .meta({
    minProperties: 1,
    example: { order_defaults: { enable_rails: ['crypto_deposit'], payment_currency: 'USDC' } },
  });
export type UpdateMerchantDto = z.infer<typeof UpdateMerchantDto>;
