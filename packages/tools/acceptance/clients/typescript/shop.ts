import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

// Prints the states of an order that it creates, lists, cancels, and reads with a state of a later version.
const { BASE_URL = '', LATER_URL = '', API_KEY = '' } = process.env;
const clientAt = (baseUrl: string) => createClient<paths>({ baseUrl, headers: { 'x-api-key': API_KEY } });
const client = clientAt(BASE_URL);

const found = <T>({ data, error }: { data?: T; error?: unknown }): T => {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
};

const body: components['schemas']['MerchantCreateOrderDto'] = {
  external_reference_id: 'typescript-1',
  items: [{ name: 'Coffee', quantity: 1.5, unit_price: '10', currency: 'USD' }],
  enable_rails: ['gateway_pay'],
  payment_currency: 'USDT',
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
  metadata: { table: 'B7' },
};
const created = found(await client.POST('/v1/orders', { body }));
const query = { external_reference_id: 'typescript-1', metadata: 'table=B7', limit: 1 };
const page = found(await client.GET('/v1/orders', { params: { query: { ...query, status: ['awaiting_payment'] } } }));
const path = { id: created.id };
const later = found(await clientAt(LATER_URL).GET('/v1/orders/{id}', { params: { path } }));
const history = found(await client.GET('/v1/orders/{id}/history', { params: { path, query: { limit: 1 } } }));
const entry = history.items[0];
const canceled = found(await client.POST('/v1/orders/{id}/cancel', { params: { path } }));
const { error } = await client.GET('/v1/orders/{id}', { params: { path: { id: 'ord_unknown' } } });
console.log(
  'RESULT',
  created.status,
  page.items[0]?.id === created.id ? 'listed' : 'missing',
  entry?.type === 'OrderCreated' ? entry.data.items[0]?.name : entry?.type,
  later.status,
  canceled.status,
  error?.statusCode,
);
