import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { profileName } from './payment-page-settings.ts';

const PATH = '/v1/merchants/me/payment-page';
const logo = async (background: string) =>
  (
    await sharp({ create: { width: 60, height: 30, channels: 3, background } })
      .jpeg()
      .toBuffer()
  ).toString('base64');

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway({ allowLocal: true });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
});

test('a merchant that set nothing has the name of its profile, and no page may embed its payment page', async () => {
  const { body: merchant } = await shop.send('GET', '/v1/merchants/me');
  expect(await shop.send('GET', PATH)).toMatchObject({
    status: 200,
    body: { display_name: profileName(merchant), frame_ancestors: [] },
  });
});

test('replaces all settings; an absent logo stays, and null removes it', async () => {
  const all = {
    ...{ display_name: ' Café ☕ ', accent_color: '#0A7D5C', contact: ' hola@cafe.example ' },
    logo: await logo('green'),
  };
  const first = await shop.send('PUT', PATH, {
    ...all,
    frame_ancestors: ['https://Shop.example/', 'http://localhost:3000'],
  });
  expect(first).toMatchObject({
    status: 200,
    body: {
      display_name: 'Café ☕',
      accent_color: '#0a7d5c',
      contact: 'hola@cafe.example',
      logo_url: expect.stringMatching(/^\/pay\/logos\/[\da-f]{64}\.png$/),
      frame_ancestors: ['https://shop.example', 'http://localhost:3000'],
    },
  });
  expect((await shop.send('GET', PATH)).body).toEqual(first.body);
  const { body: second } = await shop.send('PUT', PATH, { accent_color: '#112233' });
  expect(second).toMatchObject({ accent_color: '#112233', logo_url: first.body.logo_url, frame_ancestors: [] });
  expect(second.display_name).not.toBe('Café ☕');
  expect(second).not.toHaveProperty('contact');
  expect((await shop.send('PUT', PATH, { logo: null })).body).not.toHaveProperty('logo_url');
});

test('decodes the logos of two merchants at a time, so that two of the four threads stay free', async () => {
  const image = await sharp({ create: { width: 3_000, height: 3_000, channels: 3, background: 'green' } })
    .png()
    .toBuffer();
  const shops = await Promise.all(Array.from({ length: 5 }, () => gateway.merchant()));
  let most = 0;
  const watch = setInterval(() => {
    const { process: running, queue } = sharp.counters();
    most = Math.max(most, running + queue);
  }, 1);
  const body = { logo: image.toString('base64') };
  const answers = await Promise.all(shops.map((each) => each.send('PUT', PATH, body))).finally(() =>
    clearInterval(watch),
  );
  expect(answers.map(({ status }) => status)).toEqual(shops.map(() => 200));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2);
});

test('serves the logo to everybody, as the PNG that its path names', async () => {
  const { body } = await shop.send('PUT', PATH, { logo: await logo('green') });
  const served = await gateway.app.inject({ method: 'GET', url: body.logo_url });
  expect(served).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': 'image/png', 'cache-control': 'public, max-age=31536000, immutable' },
  });
  expect(body.logo_url).toContain(createHash('sha256').update(served.rawPayload).digest('hex'));
  expect(await sharp(served.rawPayload).metadata()).toMatchObject({ format: 'png', width: 60, height: 30 });
  await shop.send('PUT', PATH, { logo: await logo('blue') });
  expect(await gateway.app.inject({ method: 'GET', url: body.logo_url })).toMatchObject({ statusCode: 404 });
});

test('serves the style sheet of an accent', async () => {
  expect(await gateway.app.inject({ method: 'GET', url: '/pay/accents/0a7d5c.css' })).toMatchObject({
    statusCode: 200,
    headers: { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=31536000, immutable' },
    payload: expect.stringContaining('--accent:#'),
  });
  for (const url of ['/pay/accents/green.css', '/pay/accents/0a7d5c', '/pay/logos/x.png'])
    expect(await gateway.app.inject({ method: 'GET', url })).toMatchObject({ statusCode: 404 });
});

test.each<[string, object, string]>([
  ['an unknown field', { colour: 'red' }, 'colour'],
  ['a name of spaces', { display_name: '   ' }, 'display_name'],
  ['a name of two lines', { display_name: 'La\nFonda' }, 'display_name'],
  ['a name with a separator of lines', { display_name: 'La\u2028Fonda' }, 'display_name'],
  ['a name that is too long', { display_name: 'x'.repeat(61) }, 'display_name'],
  ['a contact of two lines', { contact: 'a@b.example\n+34' }, 'contact'],
  ['a contact that is too long', { contact: 'x'.repeat(121) }, 'contact'],
  ['a color by name', { accent_color: 'green' }, 'accent_color'],
  ['a color that ends a style sheet', { accent_color: '#fff}*{' }, 'accent_color'],
  ['a logo that is no base64', { logo: '<svg/>' }, 'logo'],
  ['a logo that is no image', { logo: 'aGVsbG8=' }, 'logo'],
  ['a logo of more than 1 MiB', { logo: 'A'.repeat(1_398_108) }, 'logo'],
  ['any page as a frame', { frame_ancestors: ['*'] }, 'frame_ancestors.0'],
  ['an origin with a path', { frame_ancestors: ['https://shop.example/cart'] }, 'frame_ancestors.0'],
  [
    'an origin that adds a directive',
    { frame_ancestors: ["https://shop.example; script-src 'self'"] },
    'frame_ancestors.0',
  ],
  ['an origin that adds a directive in its host', { frame_ancestors: ['https://shop.example;a'] }, 'frame_ancestors.0'],
])('refuses %s', async (_, settings, path) => {
  const { status, body } = await shop.send('PUT', PATH, settings);
  expect({ status, paths: body.details?.map((detail: { path: string }) => detail.path) }).toEqual({
    status: 400,
    paths: [path],
  });
});

test('refuses a body that is larger than a logo can be', async () => {
  expect(await shop.send('PUT', PATH, { logo: 'A'.repeat(1_600_000) })).toMatchObject({
    status: 413,
    body: { message: 'the body is larger than 1536 KiB' },
  });
});
