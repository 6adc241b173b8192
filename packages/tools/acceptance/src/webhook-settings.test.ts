import { type Answer, refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let other: Shop;

beforeAll(async () => {
  [shop, other] = await Promise.all([openShop(stack), openShop(stack)]);
});
afterAll(() => Promise.all([shop.api.close(), other.api.close()]));

const url = 'http://127.0.0.1:9/hook';
const EVENTS = [
  'order:created',
  'order:updated',
  'order:paid',
  'payment:applied',
  'payment:failed',
  'payment:refunded',
] as const;
const faultsOf = (answer: Answer) => {
  expect(answer.status).toBe(400);
  return refusalOf(answer).details!.map(({ path }) => path);
};

describe('a webhook', () => {
  test('starts disabled, and its secret is shown once', async () => {
    const { secret, ...webhook } = await shop.api.createWebhook({ url, events: [...EVENTS] });
    expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).toHaveLength(32);
    expect(webhook).toEqual({
      id: expect.stringMatching(/^whk_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      merchant_id: shop.id,
      url,
      events: [...EVENTS],
      is_enabled: false,
      created_at: expect.any(String),
    });
    expect(await shop.api.webhook(webhook.id)).toEqual(webhook);
    expect((await shop.api.webhooks()).items).toContainEqual(webhook);
  });

  test('keeps its events when it is enabled or disabled', async () => {
    const { id, created_at } = await shop.api.createWebhook({ url, events: ['order:paid'] });
    const enabled = await shop.api.updateWebhook(id, { is_enabled: true });
    expect(enabled).toMatchObject({ is_enabled: true, events: ['order:paid'], created_at });
    expect(enabled.updated_at! >= created_at!).toBe(true);
    expect(await shop.api.updateWebhook(id, { is_enabled: false })).toMatchObject({ is_enabled: false });
    expect(await shop.api.webhook(id)).toMatchObject({ is_enabled: false, events: ['order:paid'] });
  });

  test('gets a new list of events, alone or together with is_enabled', async () => {
    const { id } = await shop.api.createWebhook({ url, events: ['order:paid', 'order:created'] });
    const events = ['payment:failed' as const];
    expect(await shop.api.updateWebhook(id, { events })).toMatchObject({ events, is_enabled: false });
    const both = { events: ['order:updated' as const, 'payment:applied' as const], is_enabled: true };
    expect(await shop.api.updateWebhook(id, both)).toMatchObject(both);
  });

  test('gets a new secret by rotation', async () => {
    const webhook = await shop.api.createWebhook({ url, events: ['order:paid'] });
    const rotated = await shop.api.rotateSecret(webhook.id);
    expect(rotated.id).toBe(webhook.id);
    expect(rotated.secret).not.toBe(webhook.secret);
  });

  test('is removed from every endpoint and list when it is deleted', async () => {
    const { id } = await shop.api.createWebhook({ url, events: ['order:paid'] });
    expect(await shop.api.deleteWebhook(id)).toEqual({ id, deleted: true });
    const answers = await Promise.all([
      shop.api.send('GET', `/v1/webhooks/${id}`),
      shop.api.send('PATCH', `/v1/webhooks/${id}`, { body: { is_enabled: true } }),
      shop.api.send('DELETE', `/v1/webhooks/${id}`),
      shop.api.send('POST', `/v1/webhooks/${id}/rotate-secret`),
      shop.api.send('POST', '/debug/test-webhook', { body: { webhook_id: id, event_type: 'order:paid' } }),
    ]);
    for (const answer of answers) expect(refusalOf(answer)).toMatchObject({ statusCode: 404, code: 'not_found' });
    const { items } = await shop.api.webhooks({ limit: 100 });
    expect(items.map((webhook) => webhook.id)).not.toContain(id);
  });

  test('of another merchant is not found and not changed', async () => {
    const { secret: _, ...webhook } = await other.api.createWebhook({ url, events: ['order:paid'] });
    const answers = await Promise.all([
      shop.api.send('GET', `/v1/webhooks/${webhook.id}`),
      shop.api.send('PATCH', `/v1/webhooks/${webhook.id}`, { body: { is_enabled: true } }),
      shop.api.send('DELETE', `/v1/webhooks/${webhook.id}`),
      shop.api.send('POST', `/v1/webhooks/${webhook.id}/rotate-secret`),
      shop.api.send('GET', '/v1/webhooks/nonsense'),
      shop.api.send('POST', '/debug/test-webhook', { body: { webhook_id: webhook.id, event_type: 'order:paid' } }),
    ]);
    for (const answer of answers) {
      expect(refusalOf(answer)).toMatchObject({
        statusCode: 404,
        message:
          'no webhook has this id. The webhook may be deleted, or belong to another merchant. An id starts with "whk_".',
      });
    }
    expect(await other.api.webhook(webhook.id)).toEqual(webhook);
  });
});

describe('a list of webhooks', () => {
  test('is paged and sorted by creation time', async () => {
    const fresh = await openShop(stack);
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await fresh.api.createWebhook({ url, events: ['order:paid'] })).id);
    const first = await fresh.api.webhooks({ limit: 2, sort: 'asc' });
    expect(first).toMatchObject({ limit: 2, count: 2, total: 5, page: 1, totalPages: 3 });
    const rest = await Promise.all([2, 3].map((page) => fresh.api.webhooks({ limit: 2, sort: 'asc', page })));
    const listed = [first, ...rest].flatMap(({ items }) => items);
    expect(listed.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect((await fresh.api.webhooks()).items).toEqual([...listed].reverse());
    const { created_at } = listed[0]!;
    const before = new Date(Date.parse(created_at!) - 1).toISOString();
    expect((await fresh.api.webhooks({ to_date: before })).total).toBe(0);
    await fresh.api.close();
  });

  test('is limited to 20 per merchant', async () => {
    const fresh = await openShop(stack);
    const answers = await Promise.all(
      Array.from({ length: 25 }, () =>
        fresh.api.send('POST', '/v1/webhooks', { body: { url, events: ['order:paid'] } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(refusalOf(answer)).toMatchObject({ statusCode: 409, code: 'too_many_webhooks' });
    }
    const { items, total } = await fresh.api.webhooks();
    expect(total).toBe(20);
    await fresh.api.deleteWebhook(items[0]!.id);
    await fresh.api.createWebhook({ url, events: ['order:paid'] });
    await fresh.api.close();
  });
});

describe('a webhook is refused, naming the field, for', () => {
  const good = { url, events: ['order:paid'] };
  test.each<[string, unknown, string[]]>([
    ['no url', { events: ['order:paid'] }, ['url']],
    ['no events', { url }, ['events']],
    ['an empty list of events', { ...good, events: [] }, ['events']],
    ['an event twice', { ...good, events: ['order:paid', 'order:paid'] }, ['events']],
    ['an unknown event', { ...good, events: ['order:paid', 'order:lost'] }, ['events.1']],
    ['an unknown field', { ...good, is_enabled: true }, ['is_enabled']],
    ['an invalid url', { ...good, url: 'shop.example/hook' }, ['url']],
    ['another protocol', { ...good, url: 'ftp://203.0.113.1/' }, ['url']],
    ['http on a public address', { ...good, url: 'http://93.184.215.14/' }, ['url']],
    ['a private address', { ...good, url: 'https://10.0.0.1/' }, ['url']],
    ['the metadata address of a cloud', { ...good, url: 'https://169.254.169.254/' }, ['url']],
    ['a private IPv4 address mapped to IPv6', { ...good, url: 'https://[::ffff:10.0.0.1]/' }, ['url']],
    ['credentials', { ...good, url: 'https://user:pass@127.0.0.1/' }, ['url']],
    ['a fragment', { ...good, url: `${url}#x` }, ['url']],
    ['more than 2048 characters', { ...good, url: `${url}/${'x'.repeat(2048)}` }, ['url']],
  ])('%s', async (_, body, faults) => {
    expect(faultsOf(await shop.api.send('POST', '/v1/webhooks', { body }))).toEqual(faults);
  });

  test.each<[string, unknown, string[]]>([
    ['no change', {}, ['body']],
    ['an empty list of events', { events: [] }, ['events']],
    ['an event twice', { events: ['order:paid', 'order:paid'] }, ['events']],
    ['an is_enabled that is not a boolean', { is_enabled: 'yes' }, ['is_enabled']],
    ['an unknown field', { is_enabled: true, secret: 'x' }, ['secret']],
  ])('%s in an update', async (_, body, faults) => {
    const { id } = await other.api.createWebhook({ url, events: ['order:paid'] });
    expect(faultsOf(await other.api.send('PATCH', `/v1/webhooks/${id}`, { body }))).toEqual(faults);
  });

  test('another url in an update, with the reason', async () => {
    const { id } = await other.api.createWebhook({ url, events: ['order:paid'] });
    const answer = await other.api.send('PATCH', `/v1/webhooks/${id}`, { body: { url, is_enabled: true } });
    expect(refusalOf(answer).details).toEqual([
      { path: 'url', message: 'cannot be changed: delete the webhook and create another for the new URL' },
    ]);
    expect(await other.api.webhook(id)).toMatchObject({ is_enabled: false });
  });
});
