const { defineConfig } = require('@medusajs/framework/utils');

const { DATABASE_URL, SHOP_URL, SECRET = 'only-for-tests', GATEWAY_PLUGIN } = process.env;

// What a merchant adds for the plugin. Tests give its options as JSON.
const plugin = GATEWAY_PLUGIN && {
  plugins: [{ resolve: '@cpg/medusa-payments', options: {} }],
  modules: [
    {
      resolve: '@medusajs/medusa/payment',
      options: {
        providers: [
          {
            resolve: '@cpg/medusa-payments/providers/crypto',
            id: 'gateway',
            options: { backendUrl: SHOP_URL, ...JSON.parse(GATEWAY_PLUGIN) },
          },
        ],
      },
    },
  ],
};

module.exports = defineConfig({
  projectConfig: {
    databaseUrl: DATABASE_URL,
    http: { jwtSecret: SECRET, cookieSecret: SECRET, storeCors: '*', adminCors: '*', authCors: '*' },
  },
  admin: { disable: true },
  ...plugin,
});
