import { CreateMerchantDto, type FaultDetail, invalidRequest, type UpdateMerchantDto } from '@cpg/contracts';
import { describeIssue, validationDetails } from '@cpg/platform';
import { iso31661 } from 'iso-3166';
import { defaultFaults } from './order-defaults.ts';

/** Throws `invalid_request`. */
export const parseDefinition = (definition: unknown): CreateMerchantDto => {
  const parsed = MerchantDefinition.safeParse(definition, { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw invalidRequest(validationDetails(parsed.error));
};

/** Throws `invalid_request` for defaults that the payment methods do not allow. */
export const refuseUnusable = ({ order_defaults = {}, payment_methods }: CreateMerchantDto): void => {
  const faults = defaultFaults(order_defaults, payment_methods);
  if (faults.length > 0) throw invalidRequest(faults);
};

/** The definition with other fields; null removes a field. Throws `invalid_request`. */
export const withChanges = (before: CreateMerchantDto, changes: object): CreateMerchantDto => {
  const after = parseDefinition(withoutNulls({ ...before, ...changes }));
  // Earlier defaults do not hinder a change of the payment methods: new orders are refused with what to change.
  if ('order_defaults' in changes) refuseUnusable(after);
  return after;
};

/** What a merchant asks for, as changes of its definition. Fields of its profile that are absent stay, so that two
 *  people who change different ones at once do not undo each other. Throws `invalid_request`. */
export const changesByMerchant = (
  before: CreateMerchantDto,
  { individual_profile, business_profile, ...rest }: UpdateMerchantDto,
): object => {
  const faults = [
    ...(individual_profile && before.type !== 'individual' ? [notOfType('individual_profile', before)] : []),
    ...(business_profile && before.type !== 'business' ? [notOfType('business_profile', before)] : []),
  ];
  if (faults.length > 0) throw invalidRequest(faults);
  return {
    ...rest,
    ...(individual_profile && {
      individual_profile: withoutNulls({ ...before.individual_profile, ...individual_profile }),
    }),
    ...(business_profile && { business_profile: withoutNulls({ ...before.business_profile, ...business_profile }) }),
  };
};

const notOfType = (path: string, { type }: CreateMerchantDto): FaultDetail => ({
  path,
  message: `is not allowed: you are of type ${type}`,
});

const withoutNulls = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** The officially assigned codes of ISO 3166-1 alpha-2. */
const COUNTRIES: ReadonlySet<string> = new Set(iso31661.map(({ alpha2 }) => alpha2));

/** CreateMerchantDto, with an assigned country code and without repeated rails. */
const MerchantDefinition = CreateMerchantDto.superRefine((merchant, context) => {
  const country = merchant.business_profile?.address?.country;
  if (country !== undefined && !COUNTRIES.has(country)) {
    const path = ['business_profile', 'address', 'country'];
    context.addIssue({ code: 'custom', path, message: `${country} is not an ISO 3166-1 alpha-2 code` });
  }
  const rails = merchant.payment_methods.map(({ type }) => type);
  rails.forEach((rail, index) => {
    if (rails.indexOf(rail) === index) return;
    context.addIssue({ code: 'custom', path: ['payment_methods', index, 'type'], message: `${rail} is listed twice` });
  });
});
