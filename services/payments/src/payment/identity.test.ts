import { PaymentId } from '@cpg/contracts';
import fc from 'fast-check';
import { paymentIdOf } from './identity.ts';

test('the same payment has the same id in every process and version', () => {
  expect(paymentIdOf('crypto_deposit', 'eip155:1/0xf00d:native')).toBe(
    paymentIdOf('crypto_deposit', 'eip155:1/0xf00d:native'),
  );
  expect(paymentIdOf('crypto_deposit', 'eip155:1/0xf00d:native')).toBe('pay_44HS8KN6Y11SX0QZZMNJTE7365');
});

test('the same provider id on another rail is another payment', () =>
  expect(paymentIdOf('gateway_pay', 'a')).not.toBe(paymentIdOf('crypto_deposit', 'a')));

test('every id is a valid payment id', () => {
  fc.assert(
    fc.property(fc.string(), (providerId) => PaymentId.safeParse(paymentIdOf('gateway_pay', providerId)).success),
  );
});
