const { DefaultJobQueuePlugin, dummyPaymentHandler, LanguageCode } = require('@vendure/core');

const { DATABASE_URL, PORT, SHOP_URL, GATEWAY_PLUGIN } = process.env;

/** @type {import('@vendure/core').VendureConfig} */
const config = {
  apiOptions: { hostname: '127.0.0.1', port: Number(PORT ?? 3000), adminApiPath: 'admin-api', shopApiPath: 'shop-api' },
  authOptions: {
    tokenMethod: 'bearer',
    superadminCredentials: { identifier: 'staff', password: 'staff-of-the-shop' },
    requireVerification: false,
  },
  defaultLanguageCode: LanguageCode.en,
  dbConnectionOptions: {
    type: 'postgres',
    url: DATABASE_URL,
    // Makes the tables. Only the seed does it: the shop starts with tables that exist.
    synchronize: process.env.SEEDED_FILE !== undefined,
    logging: false,
  },
  paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  plugins: [DefaultJobQueuePlugin],
};

// What a merchant adds for the plugin. Tests give its options as JSON.
if (GATEWAY_PLUGIN) {
  const { CryptoPaymentsPlugin } = require('@cpg/vendure-payments');
  config.plugins.push(CryptoPaymentsPlugin.init({ serverUrl: SHOP_URL, ...JSON.parse(GATEWAY_PLUGIN) }));
}

module.exports = { config };
