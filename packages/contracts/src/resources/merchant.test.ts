import { faultsIn } from '../testing/jest-faults.ts';
import { CreateMerchantDto } from './merchant.ts';

describe('a merchant', () => {
  const business = {
    type: 'business',
    external_reference_id: 'm-1',
    business_profile: { business_name: 'Shop', contact_email: 'shop@shop.test' },
    payment_methods: [{ type: 'crypto_deposit', supported_currencies: ['USDT'], deposit_instructions: {} }],
    metadata: {},
  };
  const individual_profile = { first_name: 'Ana', last_name: 'Ruiz', email: 'ana@shop.test' };

  test('must have the profile of its type and no other', () => {
    expect(CreateMerchantDto.safeParse(business).success).toBe(true);
    expect(faultsIn(CreateMerchantDto, { ...business, type: 'individual' })).toEqual([
      'individual_profile: is required when type is individual',
      'business_profile: is not allowed when type is individual',
    ]);
    expect(faultsIn(CreateMerchantDto, { ...business, individual_profile })).toEqual([
      'individual_profile: is not allowed when type is business',
    ]);
  });
});
