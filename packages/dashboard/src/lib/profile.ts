import type { Address, Merchant, UpdateMerchantDto } from '@cpg/sdk';

/** The texts of the profile of a merchant as people type them, with the names of the API. */
export interface ProfileFields {
  readonly individual_profile?: Readonly<Record<'first_name' | 'last_name' | 'email' | 'phone', string>>;
  readonly business_profile?: Readonly<Record<'business_name' | 'contact_email' | 'contact_phone', string>> & {
    readonly address: Address;
  };
}

const NO_ADDRESS: Address = { street: '', city: '', state: '', postal_code: '', country: '' };

export const profileFields = ({ individual_profile, business_profile }: Merchant): ProfileFields => ({
  ...(individual_profile && { individual_profile: { phone: '', ...individual_profile } }),
  ...(business_profile && { business_profile: { contact_phone: '', address: NO_ADDRESS, ...business_profile } }),
});

/** The fields that differ, so that a change by somebody else to another field stays. Null if none does. */
export const profileChange = (before: ProfileFields, after: ProfileFields): UpdateMerchantDto | null => {
  const change: UpdateMerchantDto = {
    ...(after.individual_profile && {
      individual_profile: changedTexts(before.individual_profile, after.individual_profile, 'phone'),
    }),
    ...(after.business_profile && {
      business_profile: businessChange(before.business_profile, after.business_profile),
    }),
  };
  return Object.values(change).some(hasFields) ? change : null;
};

type BusinessFields = NonNullable<ProfileFields['business_profile']>;

const businessChange = (before: BusinessFields | undefined, { address, ...texts }: BusinessFields) => {
  const { address: addressBefore, ...textsBefore } = before ?? {};
  const isMoved = hasFields(changedTexts(addressBefore, address));
  return {
    ...changedTexts(textsBefore, texts, 'contact_phone'),
    ...(isMoved && { address: addressOf(address) }),
  };
};

type Texts = Readonly<Record<string, string>>;

/** The texts that differ. An empty one removes the `optional` field. */
const changedTexts = (before: Texts | undefined, after: Texts, optional?: string): Record<string, string | null> =>
  Object.fromEntries(
    Object.entries(after).flatMap(([name, typed]) => {
      const text = typed.trim();
      if (text === before?.[name]) return [];
      return [[name, text === '' && name === optional ? null : text]];
    }),
  );

const hasFields = (fields: object): boolean => Object.keys(fields).length > 0;

/** Null for one without any text. */
const addressOf = (typed: Address): Address | null => {
  const address = { ...typed, ...changedTexts(typed, typed) };
  return Object.values(address).every((text) => text === '') ? null : address;
};
