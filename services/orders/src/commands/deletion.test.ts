import { payableOf } from './deletion.ts';

const derivation = { fingerprint: 'f00dcafe', path: '0/7' };
const deposit = {
  network: 'ethereum',
  chainId: 'eip155:1',
  asset: 'eip155:1/slip44:60',
  address: '0xA1',
  decimals: 18,
  currencyDecimals: 18,
  requiredConfirmations: 12,
  derivation,
};

test('a deleted order keeps where it could be paid, with the addresses behind its payment pages', () => {
  const kept = { network: 'ethereum', address: '0xA1', derivation };
  const page = { provider: 'hosted', paymentReference: 'REF' };
  expect([
    payableOf({ rail: 'crypto_deposit', currency: 'ETH', ...deposit }),
    payableOf({ rail: 'gateway_pay', currency: 'ETH', ...page, paymentUrl: 'http://pay/REF', deposits: [deposit] }),
    payableOf({ rail: 'gateway_pay', currency: 'ETH', ...page, paymentUrl: 'http://pay/REF' }),
  ]).toEqual([
    { rail: 'crypto_deposit', ...kept },
    { rail: 'gateway_pay', ...page, deposits: [kept] },
    { rail: 'gateway_pay', ...page },
  ]);
});
