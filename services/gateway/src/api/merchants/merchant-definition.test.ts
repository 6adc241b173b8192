import type { AppError, CreateMerchantDto } from '@cpg/contracts';
import { changesByMerchant, withChanges } from './merchant-definition.ts';

const ADDRESS = { street: 'Calle 1', city: 'Puebla', state: 'Puebla', postal_code: '72000', country: 'MX' };
const SHOP: CreateMerchantDto = {
  type: 'business',
  external_reference_id: 'crm-1',
  business_profile: { business_name: 'La Fonda', contact_email: 'hola@lafonda.example', address: ADDRESS },
  payment_methods: [{ type: 'crypto_deposit', supported_currencies: ['BTC'], deposit_instructions: {} }],
  order_defaults: { payment_currency: 'BTC' },
  metadata: {},
};
const faultsOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return (error as AppError).details.map(({ path }) => path);
  }
  return [];
};

test('changes of a merchant touch the given fields of its profile alone', () => {
  const changes = changesByMerchant(SHOP, { business_profile: { contact_phone: '+1', address: null } });
  expect(withChanges(SHOP, changes)).toEqual({
    ...SHOP,
    business_profile: { business_name: 'La Fonda', contact_email: 'hola@lafonda.example', contact_phone: '+1' },
  });
});

test('an address is replaced as a whole, and needs the code of a country', () => {
  const moved = { ...ADDRESS, street: 'Calle 2' };
  const change = (address: typeof ADDRESS) =>
    withChanges(SHOP, changesByMerchant(SHOP, { business_profile: { address } }));
  expect(change(moved).business_profile?.address).toEqual(moved);
  expect(faultsOf(() => change({ ...ADDRESS, country: 'XX' }))).toEqual(['business_profile.address.country']);
});

test('a merchant has the profile of its type alone', () => {
  expect(faultsOf(() => changesByMerchant(SHOP, { individual_profile: { first_name: 'Ada' } }))).toEqual([
    'individual_profile',
  ]);
});

test('defaults of orders are checked when they change, not when the payment methods do', () => {
  const usdc = [{ type: 'crypto_deposit', supported_currencies: ['USDC'], deposit_instructions: {} }];
  expect(withChanges(SHOP, { payment_methods: usdc }).order_defaults).toEqual({ payment_currency: 'BTC' });
  expect(faultsOf(() => withChanges(SHOP, { order_defaults: { payment_currency: 'ETH' } }))).toEqual([
    'order_defaults.payment_currency',
  ]);
});
