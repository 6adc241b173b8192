import { faultsOf, orderRequest, railsOf } from './create-order.ts';

const fields = {
  reference: ' invoice-1 ',
  items: [{ name: ' Dinner ', quantity: '2', unit_price: '12.50' }],
  priceCurrency: 'MXN',
  payCurrency: 'USDC',
  rails: ['gateway_pay'],
  minutes: '60',
  isPartial: true,
};

test('makes the request of what was entered', () =>
  expect(orderRequest(fields)).toMatchObject({
    external_reference_id: 'invoice-1',
    items: [{ name: 'Dinner', quantity: 2, unit_price: '12.50', currency: 'MXN' }],
    enable_rails: ['gateway_pay'],
    payment_currency: 'USDC',
    expiration_minutes: 60,
    capabilities: { partial_payments: true },
  }));

test('names each field with a fault', () => {
  expect(faultsOf(fields)).toEqual({});
  const item = { name: ' ', quantity: '0', unit_price: '12,50' };
  expect(faultsOf({ ...fields, reference: '', rails: [], minutes: '1.5', items: [item] })).toEqual({
    reference: 'required',
    rails: 'rail',
    minutes: 'required',
    'items.0.name': 'required',
    'items.0.unit_price': 'amount',
    'items.0.quantity': 'amount',
  });
});

test('offers the rails of the currency', () => {
  const currencies = {
    price_currencies: [],
    payment_currencies: [
      {
        currency: 'USDC' as const,
        decimals: 6,
        rails: [{ rail: 'crypto_deposit' as const, is_available: false, networks: [], limits: [] }],
      },
    ],
  };
  expect(railsOf(currencies, 'USDC')).toEqual([{ rail: 'crypto_deposit', isAvailable: false }]);
  expect(railsOf(currencies, 'BTC')).toEqual([]);
});
