import { readOptions } from './options.ts';

const REQUIRED = { gatewayUrl: 'https://pay.example', apiKey: 'ak_1', backendUrl: 'https://shop.example' };

test('fills in what a merchant leaves out', () => {
  expect(readOptions(REQUIRED)).toEqual({
    ...REQUIRED,
    shop: 'medusa',
    coin: 'USDC',
    rails: ['gateway_pay', 'crypto_deposit'],
  });
  expect(readOptions({ ...REQUIRED, shop: 'b2b', coin: 'BTC' })).toMatchObject({ shop: 'b2b', coin: 'BTC' });
});

test('names every fault at once', () => {
  expect(() => readOptions({ apiKey: 7, gatewayURL: 'x' })).toThrow(
    'gatewayUrl is missing; backendUrl is missing; apiKey must be text; gatewayURL is not an option: there are gatewayUrl,',
  );
  expect(() => readOptions()).toThrow('apiKey is missing');
});
