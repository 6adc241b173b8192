// Fills an empty shop: one product in four currencies, one way of shipping, the built-in test payment.
// Writes what tests need to know to SEEDED_FILE.
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { bootstrap, dummyPaymentHandler, LanguageCode } = require('@vendure/core');
const { populate } = require('@vendure/core/cli');
const { config } = require('./config.js');

const CURRENCIES = { USD: 1050, MXN: 1050, JPY: 1500, SEK: 1050 };
const COUNTRIES = ['US', 'MX', 'JP', 'SE'];

const initialData = {
  defaultLanguage: LanguageCode.en,
  defaultZone: 'World',
  countries: COUNTRIES.map((code) => ({ name: code, code, zone: 'World' })),
  taxRates: [{ name: 'None', percentage: 0 }],
  shippingMethods: [{ name: 'Standard', price: 500 }],
  paymentMethods: [
    {
      name: 'Test payment',
      handler: { code: dummyPaymentHandler.code, arguments: [{ name: 'automaticSettle', value: 'false' }] },
    },
  ],
  roles: [],
  collections: [],
};

const main = async () => {
  const app = await populate(() => bootstrap(config), initialData, join(__dirname, 'products.csv'));
  const { port } = app.getHttpServer().address();
  const api = `http://127.0.0.1:${port}/admin-api`;
  let token;
  const call = async (query, variables) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(api, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    token ??= response.headers.get('vendure-auth-token');
    const { data, errors } = await response.json();
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  };
  await call('mutation { login(username: "staff", password: "staff-of-the-shop") { __typename } }');
  const { activeChannel, productVariants } = await call(
    '{ activeChannel { id } productVariants { items { id sku } } }',
  );
  await call('mutation ($input: UpdateChannelInput!) { updateChannel(input: $input) { __typename } }', {
    input: { id: activeChannel.id, availableCurrencyCodes: Object.keys(CURRENCIES) },
  });
  const [variant] = productVariants.items;
  const prices = Object.entries(CURRENCIES).map(([currencyCode, price]) => ({ currencyCode, price }));
  await call('mutation ($input: [UpdateProductVariantInput!]!) { updateProductVariants(input: $input) { id } }', {
    input: [{ id: variant.id, prices }],
  });
  writeFileSync(process.env.SEEDED_FILE, JSON.stringify({ variantId: variant.id }));
  await app.close();
};

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
