// Fills an empty shop: one region per currency, one product with stock, one way of shipping, a publishable key.
// Writes what tests need to know to SEEDED_FILE.
const { writeFileSync } = require('node:fs');
const { ContainerRegistrationKeys, Modules, ProductStatus } = require('@medusajs/framework/utils');
const flows = require('@medusajs/medusa/core-flows');

const REGIONS = [
  { currency: 'usd', country: 'us' },
  { currency: 'mxn', country: 'mx' },
  { currency: 'jpy', country: 'jp' },
  // Its price currency is not one of the gateway's.
  { currency: 'sek', country: 'se' },
];
const PROVIDERS = (process.env.PAYMENT_PROVIDERS ?? 'pp_system_default').split(',');
const STOCK = 1_000_000;

exports.default = async ({ container }) => {
  const run = async (flow, input) => (await flow(container).run({ input })).result;
  const link = container.resolve(ContainerRegistrationKeys.LINK);
  const currencies = REGIONS.map(({ currency }) => currency);

  const [store] = await container.resolve(Modules.STORE).listStores();
  const [channel] = await run(flows.createSalesChannelsWorkflow, { salesChannelsData: [{ name: 'Web' }] });
  await run(flows.updateStoresWorkflow, {
    selector: { id: store.id },
    update: {
      supported_currencies: currencies.map((currency_code, n) => ({ currency_code, is_default: n === 0 })),
      default_sales_channel_id: channel.id,
    },
  });
  const regions = await run(flows.createRegionsWorkflow, {
    regions: REGIONS.map(({ currency, country }) => ({
      name: country,
      currency_code: currency,
      countries: [country],
      payment_providers: PROVIDERS,
    })),
  });
  await run(
    flows.createTaxRegionsWorkflow,
    REGIONS.map(({ country }) => ({ country_code: country, provider_id: 'tp_system' })),
  );

  const [location] = await run(flows.createStockLocationsWorkflow, {
    locations: [{ name: 'Warehouse', address: { city: 'X', country_code: 'US', address_1: 'Y' } }],
  });
  await link.create({
    [Modules.STOCK_LOCATION]: { stock_location_id: location.id },
    [Modules.FULFILLMENT]: { fulfillment_provider_id: 'manual_manual' },
  });
  const [profile] = await run(flows.createShippingProfilesWorkflow, { data: [{ name: 'Default', type: 'default' }] });
  const set = await container.resolve(Modules.FULFILLMENT).createFulfillmentSets({
    name: 'Delivery',
    type: 'shipping',
    service_zones: [
      { name: 'World', geo_zones: REGIONS.map(({ country }) => ({ country_code: country, type: 'country' })) },
    ],
  });
  await link.create({
    [Modules.STOCK_LOCATION]: { stock_location_id: location.id },
    [Modules.FULFILLMENT]: { fulfillment_set_id: set.id },
  });
  await run(flows.createShippingOptionsWorkflow, [
    {
      name: 'Standard',
      price_type: 'flat',
      provider_id: 'manual_manual',
      service_zone_id: set.service_zones[0].id,
      shipping_profile_id: profile.id,
      type: { label: 'Standard', description: 'Within three days', code: 'standard' },
      prices: currencies.map((currency_code) => ({ currency_code, amount: 5 })),
      rules: [
        { attribute: 'enabled_in_store', value: 'true', operator: 'eq' },
        { attribute: 'is_return', value: 'false', operator: 'eq' },
      ],
    },
  ]);
  await run(flows.linkSalesChannelsToStockLocationWorkflow, { id: location.id, add: [channel.id] });

  const [key] = await run(flows.createApiKeysWorkflow, {
    api_keys: [{ title: 'Web', type: 'publishable', created_by: '' }],
  });
  await run(flows.linkSalesChannelsToApiKeyWorkflow, { id: key.id, add: [channel.id] });

  const [product] = await run(flows.createProductsWorkflow, {
    products: [
      {
        title: 'Tea pot',
        status: ProductStatus.PUBLISHED,
        shipping_profile_id: profile.id,
        options: [{ title: 'Size', values: ['M'] }],
        variants: [
          {
            title: 'M',
            sku: 'TEAPOT-M',
            options: { Size: 'M' },
            prices: currencies.map((currency_code) => ({
              currency_code,
              amount: currency_code === 'jpy' ? 1500 : 10.5,
            })),
          },
        ],
        sales_channels: [{ id: channel.id }],
      },
    ],
  });
  const query = container.resolve(ContainerRegistrationKeys.QUERY);
  const { data: items } = await query.graph({ entity: 'inventory_item', fields: ['id'] });
  await run(flows.createInventoryLevelsWorkflow, {
    inventory_levels: items.map(({ id }) => ({
      inventory_item_id: id,
      location_id: location.id,
      stocked_quantity: STOCK,
    })),
  });

  const seeded = {
    publishableKey: key.token,
    salesChannelId: channel.id,
    variantId: product.variants[0].id,
    regions: Object.fromEntries(regions.map(({ id, currency_code }) => [currency_code, id])),
  };
  writeFileSync(process.env.SEEDED_FILE, JSON.stringify(seeded));
};
