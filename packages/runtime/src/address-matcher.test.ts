import { createAddressMatcher, isAddressOrCidr } from './address-matcher.ts';

test('no entries hold no address', () => {
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
])('%s is in them: %s', (address, isIn) => {
  expect(createAddressMatcher(['203.0.113.9', '10.1.0.0/16', '2001:db8::/32'])(address)).toBe(isIn);
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
])('%j is an address or a block: %s', (text, is) => {
  expect(isAddressOrCidr(text)).toBe(is);
});
