import { readFileSync } from 'node:fs';
import { ApiError, type Client, createClient } from '@cpg/sdk';
import { verify } from '@cpg/sdk/webhooks';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { sharedStack } from './harness/stack-files.ts';
import { until } from './harness/until.ts';

const stack = sharedStack();
const called = new Set<string>();
let shop: Shop;
let client: Client;
let receiver: Receiver;

/** The client, which notes the methods that are called. */
const noting = (whole: Client): Client =>
  new Proxy(whole, {
    get: (target, name) => {
      called.add(String(name));
      return Reflect.get(target, name) as unknown;
    },
  });

beforeAll(async () => {
  [shop, receiver] = await Promise.all([openShop(stack), startReceiver()]);
  client = noting(createClient({ baseUrl: stack.baseUrl, apiKey: shop.key }));
});
afterAll(() => Promise.all([shop.api.close(), receiver.close()]));

let hashes = 0;
const pay = (orderId: string, more: object = {}) =>
  client.registerPayment({
    order_id: orderId,
    payment_rail: 'crypto_deposit',
    amount: '10',
    currency: 'USDT',
    txHash: `0xsdk${process.pid}-${(hashes += 1)}`,
    ...more,
  });

test('reads the merchant and the health of the gateway', async () => {
  expect(await client.getMerchant()).toMatchObject({ id: shop.id });
  const { logo_url: _, ...settings } = (await client.getPaymentPageSettings()) as { logo_url?: string };
  expect(await client.replacePaymentPageSettings({ display_name: 'Café Colibrí' })).toMatchObject({
    ...settings,
    display_name: 'Café Colibrí',
  });
  const defaults = { payment_currency: 'USDT' } as const;
  expect(await client.updateMerchant({ order_defaults: defaults })).toMatchObject({ order_defaults: defaults });
  const { price_currencies, payment_currencies } = await client.getCurrencies();
  expect(price_currencies).toContainEqual({ currency: 'JPY', decimals: 0, is_available: true });
  expect(payment_currencies.map(({ currency }) => currency)).toContain('USDC');
  const { accounts, confirmations } = await client.getDepositSettings();
  expect(accounts.map(({ owner }) => owner)).toContain('platform');
  expect(confirmations.length).toBeGreaterThan(0);
  expect((await client.getOverview({ timezone: 'America/Mexico_City' })).created.count).toBe(0);
  expect((await client.getVolume({ timezone: 'America/Mexico_City' })).days).toEqual([]);
  expect(await client.health()).toEqual({ status: 'ok' });
  await client.ready();
});

test('creates, changes, pays, refunds, lists and deletes orders', async () => {
  const order = await client.createOrder(orderBody({ external_reference_id: 'sdk-1' }));
  expect(await client.updateOrder(order.id, { metadata: { table: 'B7' } })).toMatchObject({
    metadata: { table: 'B7' },
  });
  const pending = await pay(order.id, { outcome: 'pending' });
  const [payment] = pending.payments;
  expect(await client.confirmPayment(payment!.id)).toMatchObject({ status: 'paid' });
  expect(await client.captureOrder(order.id)).toMatchObject({ status: 'paid' });
  const reason = 'it is paid already, so nothing changes';
  expect(await client.acceptOrder(order.id, { reason })).toMatchObject({ status_reason: 'payment_settled' });
  const part = await client.refundOrder(order.id, { amount: '1' });
  expect(part).toMatchObject({ amount: '1.000000', parts: [{ payment_id: payment!.id, amount: '1.000000' }] });
  expect((await client.getOrder(order.id)).refunds).toEqual([part]);
  const { refund_id, ...refunded } = await client.refundPayment(payment!.id, { what: 'all' });
  expect(refunded).toMatchObject({ id: payment!.id, status: 'refunded' });
  expect(await client.getPayment(payment!.id)).toEqual(refunded);
  const { items: refunds } = await client.listRefunds({ order_id: order.id, status: ['recorded'] });
  expect(refunds.map(({ id }) => id)).toEqual([refund_id, part.parts[0]!.refund_id]);
  expect(await client.listRefunds({ order_id: order.id, status: ['pending'] })).toMatchObject({ items: [], total: 0 });
  expect(await client.getRefund(refunds[0]!.id)).toEqual(refunds[0]);
  // Its wallet has paid back: there is nothing to send or to cancel.
  const refused = { status: 409, code: 'payment_conflict' };
  await expect(client.requestRefund(refunds[0]!.id, {})).rejects.toMatchObject(refused);
  await expect(client.createRefundClaim(refunds[0]!.id, {})).rejects.toMatchObject(refused);
  await expect(client.cancelRefund(refunds[0]!.id)).rejects.toMatchObject(refused);
  expect((await client.listPayments({ order_id: order.id })).items).toHaveLength(1);
  const { items: lines } = await client.listSettlementLines({ order_id: order.id, account: 'refunded' });
  expect(lines.map(({ refund_id: id, amount }) => [id, amount])).toEqual([
    [refund_id, '9.000000'],
    [part.parts[0]!.refund_id, '1.000000'],
  ]);
  expect((await client.getBalances()).currencies[0]!.accounts).toMatchObject({ refunded: '10.000000' });
  const day = lines[0]!.booked_at.slice(0, 10);
  expect(await client.exportSettlements({ from: day, to: day })).toContain(`${lines[0]!.id},`);
  const { data, response } = await client.raw.getOrder(order.id);
  expect(data).toEqual(await client.getOrder(order.id));
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  const types: string[] = [];
  for await (const { type } of client.listOrderHistory(order.id)) types.push(type);
  expect(types[0]).toBe('OrderCreated');
  expect(await client.deleteOrder(order.id)).toEqual({ id: order.id, deleted: true });
});

test('cancels an order, lets one expire and loses a payment', async () => {
  const { id } = await client.createOrder(orderBody());
  expect(await client.cancelOrder(id)).toMatchObject({ status: 'canceled' });
  const changed = await client.createOrder(orderBody());
  const items = [{ ...orderBody().items[0]!, quantity: 2 }];
  expect(await client.updateOrder(changed.id, { items })).toMatchObject({ total_amount: '20.000000' });
  expect(await client.cancelOrder(changed.id, { if_unpaid: true })).toMatchObject({ status: 'canceled' });
  const late = await client.createOrder(orderBody());
  expect(await client.advanceTime(late.id, { minutes: 43_200 })).toMatchObject({ status: 'expired' });
  const paid = await pay((await client.createOrder(orderBody())).id);
  expect(await client.failPayment(paid.payments[0]!.id, {})).toMatchObject({ status: 'reversed' });
});

test('a list goes on from its cursor after an interruption', async () => {
  const reference = `sdk-list-${process.pid}`;
  const created: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    created.push((await client.createOrder(orderBody({ external_reference_id: reference }))).id);
  }
  const query = { external_reference_id: reference, sort: 'asc', limit: 2 } as const;
  const read: string[] = [];
  const list = client.listOrders(query);
  for await (const { id } of list) {
    read.push(id);
    if (read.length === 4) break;
  }
  // The second page was not read to its end, so it comes again.
  for await (const { id } of client.listOrders({ ...query, cursor: list.cursor! })) read.push(id);
  expect(read).toEqual([...created.slice(0, 4), ...created.slice(2)]);
});

test('receives, verifies, looks up and repeats webhooks', async () => {
  const events = ['order:created'] as ['order:created'];
  const shop = { label: 'Consumers', filter: { shop: 'b2c' } };
  const { id, secret } = await client.createWebhook({ url: receiver.urlOf('/sdk'), events, ...shop });
  expect(await client.updateWebhook(id, { is_enabled: true })).toMatchObject({ is_enabled: true });
  expect(await client.getWebhook(id)).toMatchObject({ events, ...shop });
  expect((await client.listWebhooks()).items).toHaveLength(1);
  const { delivery_id } = await client.testWebhook({ webhook_id: id, event_type: 'order:created' });
  const [attempt] = await receiver.attempts('/sdk', 1);
  expect(verify(attempt!.rawBody, attempt!.headers, secret)).toMatchObject({
    event: 'order:created',
    object_type: 'order',
  });
  await until(
    'the delivery is recorded',
    async () => (await client.getDelivery(id, delivery_id)).status === 'delivered',
  );
  expect((await client.listDeliveries(id, { status: ['delivered'] })).items).toHaveLength(1);
  expect((await client.listAllDeliveries({ status: ['delivered'] })).items).toHaveLength(1);
  expect((await client.listOrderDeliveries((await client.createOrder(orderBody())).id)).items).toEqual([]);
  expect(await client.redeliver(id, delivery_id)).toMatchObject({ id: delivery_id });
  const replay = await client.replayEvents(id, { from_date: '2026-01-01T00:00:00Z', to_date: '2026-01-02T00:00:00Z' });
  expect(await client.getReplay(id, replay.id)).toMatchObject({ id: replay.id });
  expect((await client.listReplays(id)).items).toHaveLength(1);
  const { days } = await client.getWebhookHealth(id);
  const sent = days.map(({ delivered, failed, pending }) => delivered.count + failed.count + pending.count);
  expect(sent).toHaveLength(30);
  // The test delivery alone: the filter lets no order through, also none of an earlier test.
  expect(Math.max(...sent)).toBe(1);
  expect(await client.updateWebhook(id, { filter: null })).not.toHaveProperty('filter');
  expect(await client.cancelReplay(id, replay.id)).toMatchObject({ id: replay.id });
  expect((await client.rotateWebhookSecret(id)).secret).toMatch(/^whsec_/);
  expect(await client.deleteWebhook(id)).toEqual({ id, deleted: true });
});

test('creates, changes, rotates and revokes API keys', async () => {
  const { id, key } = await client.createApiKey({ scopes: ['orders:self:read'], label: 'Reports' });
  const reports = createClient({ baseUrl: stack.baseUrl, apiKey: key });
  expect((await reports.listOrders({ limit: 1 })).items).toHaveLength(1);
  await expect(reports.createOrder(orderBody())).rejects.toMatchObject({ code: 'insufficient_scope' });
  expect(await client.updateApiKey(id, { label: null })).not.toHaveProperty('label');
  expect((await client.listApiKeys()).items).toContainEqual(expect.objectContaining({ id, status: 'active' }));
  const next = await client.rotateApiKey(id, { overlap_seconds: 60 });
  expect(next).toMatchObject({ version: 2, scopes: ['orders:self:read'] });
  expect(await client.getApiKey(id)).toHaveProperty('rotated_at');
  expect(await client.revokeApiKey(next.id)).toMatchObject({ status: 'revoked' });
});

test('invites, changes and deletes users', async () => {
  const email = `${shop.id.toLowerCase()}@shop.example`;
  const { id, sign_in_link: link } = await client.createUser({ email, role: 'support' });
  expect(link).toContain('/dashboard/sign-in#link=');
  expect(await client.updateUser(id, { role: 'viewer', name: 'Ada' })).toMatchObject({ role: 'viewer', name: 'Ada' });
  expect((await client.listUsers()).items).toContainEqual(await client.getUser(id));
  expect((await client.createSignInLink(id, {})).sign_in_link).not.toBe(link);
  expect((await client.getRoles()).items.map(({ role }) => role)).toContain('viewer');
  expect(await client.deleteUser(id)).toEqual({ id, deleted: true });
  const { items } = await client.listAuditLog({ subject: id, sort: 'asc' });
  expect(items.map(({ type }) => type)).toEqual(['UserInvited', 'UserChanged', 'SignInLinkCreated', 'UserDeleted']);
});

test('lists requests, refused ones with their code', async () => {
  const refusal = await client.getOrder('ord_unknown').catch((error: ApiError) => error);
  const { request_id: requestId } = refusal as ApiError;
  const request = await until('the request is in the log', async () => {
    return (await client.listRequests({ request_id: requestId!, status: '4xx' })).items[0];
  });
  expect(request).toMatchObject({ id: requestId, path: '/v1/orders/ord_unknown', status: 404, code: 'not_found' });
});

test('a refusal has the code of the reference', async () => {
  const failure = client.reportProviderPayment('nobody', {
    order_id: 'ord_1',
    external_reference_id: '1',
    amount: '1',
    currency: 'USDT',
  });
  await expect(failure).rejects.toBeInstanceOf(ApiError);
  await expect(client.getOrder('ord_unknown')).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test('a POST that is repeated with the key of an earlier call has its effect once', async () => {
  const options = { idempotencyKey: `sdk-${process.pid}` };
  const first = await client.createOrder(orderBody(), options);
  const { data, response } = await client.raw.createOrder(orderBody(), options);
  expect([data.id, response.headers.get('idempotency-replayed')]).toEqual([first.id, 'true']);
});

test('the sandbox serves the package that documents install', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../sdk/package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const answer = await fetch(`${stack.baseUrl}/sdk/cpg-sdk-${version}.tgz`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip']);
  const [first, second] = new Uint8Array(await answer.arrayBuffer());
  expect([first, second]).toEqual([0x1f, 0x8b]);
});

// Last: add a call above for each operation that is missing here.
test('every operation of the reference was called', async () => {
  const { paths } = (await (await fetch(`${stack.baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(operations.map(({ operationId }) => operationId).filter((id) => !called.has(id))).toEqual([]);
});
