import type { Merchant } from '@cpg/sdk';
import { profileChange, profileFields } from './profile.ts';

const ADDRESS = { street: 'Calle 1', city: 'Puebla', state: 'Puebla', postal_code: '72000', country: 'MX' };
const shop = profileFields({
  business_profile: { business_name: 'La Fonda', contact_email: 'hola@lafonda.example', address: ADDRESS },
} as Merchant).business_profile!;
const changeOf = (changes: Partial<typeof shop>) =>
  profileChange({ business_profile: shop }, { business_profile: { ...shop, ...changes } });

test('sends the fields that differ, without spaces around them', () => {
  expect(changeOf({ business_name: ' Fonda 2 ' })).toEqual({ business_profile: { business_name: 'Fonda 2' } });
  expect(changeOf({ contact_phone: '+1' })).toEqual({ business_profile: { contact_phone: '+1' } });
  const ada = profileFields({
    individual_profile: { first_name: 'Ada', last_name: 'Byron', email: 'a@b.example', phone: '+1' },
  } as Merchant).individual_profile!;
  expect(
    profileChange({ individual_profile: ada }, { individual_profile: { ...ada, last_name: 'Lovelace', phone: '' } }),
  ).toEqual({ individual_profile: { last_name: 'Lovelace', phone: null } });
});

test('sends nothing if only spaces differ', () =>
  expect(changeOf({ business_name: 'La Fonda ', address: { ...ADDRESS, city: ' Puebla' } })).toBeNull());

test('sends a required text that is empty, for the gateway to refuse', () =>
  expect(changeOf({ contact_email: ' ' })).toEqual({ business_profile: { contact_email: '' } }));

test('sends the whole address if a part differs, and null for an empty one', () => {
  const moved = { ...ADDRESS, street: 'Calle 2' };
  expect(changeOf({ address: moved })).toEqual({ business_profile: { address: moved } });
  expect(changeOf({ address: { street: '', city: ' ', state: '', postal_code: '', country: '' } })).toEqual({
    business_profile: { address: null },
  });
});
