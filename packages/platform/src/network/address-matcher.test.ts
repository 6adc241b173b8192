import { createAddressMatcher, isAddressOrCidr, isBlockWithin } from './addresses.ts';

test('matches no address without entries', () => {
  expect(createAddressMatcher([])('203.0.113.9')).toBe(false);
});

test.each([
  ['203.0.113.9', true],
  ['203.0.113.10', false],
  ['10.1.2.3', true],
  ['10.2.0.0', false],
  ['::ffff:203.0.113.9', true],
  ['2001:db8::5', true],
  ['2001:db9::5', false],
  ['nonsense', false],
])('matches %s: %s', (address, expected) => {
  expect(createAddressMatcher(['203.0.113.9', '10.1.0.0/16', '2001:db8::/32'])(address)).toBe(expected);
});

test.each([
  ['203.0.113.9', true],
  ['10.0.0.0/8', true],
  ['2001:db8::/32', true],
  ['10.0.0.0/33', false],
  ['2001:db8::/129', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['shop.example', false],
  ['', false],
])('recognises %j as an IP address or CIDR block: %s', (text, expected) => {
  expect(isAddressOrCidr(text)).toBe(expected);
});

test.each([
  ['10.1.2.3', '10.0.0.0/8', true],
  ['10.0.0.0/8', '10.0.0.0/8', true],
  ['10.0.0.0/7', '10.0.0.0/8', false],
  ['10.0.0.0/8', '10.1.2.3', false],
  ['10.1.2.3', '10.1.2.3', true],
  ['10.1.2.3/32', '10.1.2.3', true],
  ['11.0.0.0/16', '10.0.0.0/8', false],
  ['2001:db8:1::/48', '2001:db8::/32', true],
  ['2001:db8::/31', '2001:db8::/32', false],
  ['10.1.2.3', '::/0', false],
  ['::/0', '0.0.0.0/0', false],
])('%s is within %s: %s', (inner, outer, expected) => {
  expect(isBlockWithin(inner, outer)).toBe(expected);
});
