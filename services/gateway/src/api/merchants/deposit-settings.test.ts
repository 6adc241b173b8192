import type { DepositSettingsView } from '@cpg/contracts';
import { depositSettingsOf } from './deposit-settings.ts';

const VIEW: DepositSettingsView = {
  accounts: [
    { network: 'bitcoin', fingerprint: '73c5da0a', owner: 'merchant', depth: 3, first_address: 'bc1qfirst' },
    { network: 'base', fingerprint: '11111111', owner: 'platform', depth: 3, first_address: '0xother' },
  ],
  confirmations: [
    { asset: 'a', currency: 'BTC', network: 'bitcoin', owner: 'merchant', from: '0.5', confirmations: 6 },
  ],
  underpayment_tolerance_percent: 1.5,
  refund_addresses: [{ network: 'base', address: '0xown' }],
};

test('a merchant sees its own account, and of that of the platform only that it is one', () => {
  expect(depositSettingsOf(VIEW)).toEqual({
    accounts: [
      { network: 'bitcoin', owner: 'merchant', fingerprint: '73c5da0a', first_address: 'bc1qfirst' },
      { network: 'base', owner: 'platform' },
    ],
    confirmations: [
      { asset: 'a', currency: 'BTC', network: 'bitcoin', owner: 'merchant', from_amount: '0.5', confirmations: 6 },
    ],
    underpayment_tolerance_percent: 1.5,
    refund_addresses: [{ network: 'base', address: '0xown' }],
  });
});
