import { readSearch } from './order-search.ts';

const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
const HASH = `0x${'5c'.repeat(32)}`;

test.each([
  ['12.50', '12.50', ['USDT', 'USDC', 'USDG', 'BTC', 'ETH', 'CAZ']],
  ['12.50 USDC', '12.50', ['USDC']],
  ['12 BTC', '12', ['BTC']],
  ['0.000000000000000001', '0.000000000000000001', ['USDT', 'USDC', 'USDG', 'BTC', 'ETH', 'CAZ']],
])('%s is a total', (text, amount, currencies) => {
  expect(readSearch(text)).toEqual({ by: 'total', amount, currencies });
});

const conditionOf = (text: string) => {
  const search = readSearch(text);
  const [, values, condition] = search.by === 'name' ? search.filter : [];
  return { values, condition: condition?.('$2', '$1') ?? '' };
};

test.each([
  ['an id of an order', 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C', /unnest/, 1],
  ['an id of a payment', 'pay_01KG9Q3D4E5F6G7H8J9K0M1N2P', /api_payments.* and id = any/, 1],
  ['an id of a refund', 'rfd_01KG9Q4B5C6D7E8F9G0H1J2K3M', /api_refunds.* and id = any/, 1],
  ['a hash', HASH, /api_payments.* and tx_hash = any/, 1],
  ['a hash in capital letters', HASH.slice(2).toUpperCase(), /api_payments.* and tx_hash = any/, 2],
  ['an address', ADDRESS, /api_payables.* and address = any/, 1],
  ['an address in small letters', ADDRESS.toLowerCase(), /api_payables.* and address = any/, 2],
  ['a Bitcoin address', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', /address = any/, 1],
  ['a Bitcoin address of a QR code', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', /address = any/, 2],
  ['an old Bitcoin address', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2', /address = any/, 1],
])('%s is looked for as one, and as a reference', (_, text, place, spellings) => {
  const { values, condition } = conditionOf(text);
  expect(values).toHaveLength(spellings);
  expect(condition).toMatch(place);
  expect(condition).toMatch(/external_reference_id = any\(\$2\) union .*reference = any\(\$2\)/);
  for (const from of condition.split(' union ').slice(0, 2)) expect(from).toContain('merchant_id = $1');
});

test.each(['invoice-1042', '1042', '000123', '1.2.3', '1042A', '2026-01-31', '+34 600 000 000', '1042 ABCD', 'a,5'])(
  '%s is a reference alone',
  (text) => {
    const { values, condition } = conditionOf(text);
    expect(values).toEqual([text]);
    expect(condition.split(' union ')).toHaveLength(2);
  },
);

test.each([
  ['ord_123', 'looks like the id of an order, which has `ord_` and 26 capital letters and digits'],
  ['pay_01kg9q3d4e5f6g7h8j9k0m1n2p', '26 capital letters and digits'],
  ['whk_01KG9Q4F5G6H7J8K9M0N1P2Q3R', 'looks like the id of a webhook: search for an id of an order'],
  [ADDRESS.slice(0, -1), 'has 39 characters after 0x: an address has 40, the hash of a transaction 64'],
  [HASH.slice(0, -1), 'has 63 characters after 0x'],
  [ADDRESS.replace('Ef', 'eF'), 'the checksum of the address does not fit'],
  ['12,50', 'looks like an amount: write digits, a decimal point and maybe the currency'],
  ['1,250.00', 'looks like an amount'],
  ['$12', 'looks like an amount'],
  ['-5.00', 'looks like an amount'],
  ['12USDC', 'looks like an amount'],
  ['12.50 usdc', 'looks like an amount'],
  ['12 USD', 'USD is no currency that orders are paid in: use USDT'],
])('%s is refused, and the message says why and what to do', (text, message) => {
  expect(() => readSearch(text)).toThrow(message);
  expect(() => readSearch(text)).toThrow('To find a reference of this form, use `external_reference_id`');
});
