import { CreateMerchantDto } from '@cpg/contracts';
import { iso31661 } from 'iso-3166';

/** The officially assigned codes of ISO 3166-1 alpha-2. */
const COUNTRIES: ReadonlySet<string> = new Set(iso31661.map(({ alpha2 }) => alpha2));

/** CreateMerchantDto, with an assigned country code and without repeated rails. */
export const MerchantDefinition = CreateMerchantDto.superRefine((merchant, context) => {
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
