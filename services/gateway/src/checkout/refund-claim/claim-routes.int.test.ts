import type { CheckedAddress, ClaimedRefund, Order, Refund } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import { hashOfClaimToken } from '../../api/refunds/claim-token.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderOf, projectOrder, projectRefund, refundOf } from '../../testing/jest-resources.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

const PAYER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const TOKEN = '0123456789abcdef0123456789abcdef';
const EXPIRES = '2030-01-31T12:00:00.000Z';

let gateway: TestGateway;
let merchant: TestMerchant;
/** What payments knows of the claim link, and answers to an address. */
let claimed: ClaimedRefund | null;
let checked: CheckedAddress;
let confirmed: CheckedAddress | 'conflict';
let reference: string;

beforeAll(async () => {
  gateway = await startGateway({ environment: 'production' });
  merchant = await gateway.merchant();
  gateway.payments.respond = ({ path, body }) => {
    if (path.startsWith('/pages/')) {
      const known = path.endsWith(reference);
      const page = { order_id: claimed!.refund.order_id, merchant_id: merchant.id, deposits: [] };
      return known ? { status: 200, body: page } : errorResponse(404, 'not_found');
    }
    if (path.startsWith('/refunds/'))
      return { status: 200, body: { refund: claimed!.refund, public_url: 'https://pay.test' } };
    const isKnown = path.startsWith(`/claims/${hashOfClaimToken(TOKEN)}`);
    if (!isKnown || !claimed) return errorResponse(404, 'not_found');
    if (path.endsWith('/check')) return { status: 200, body: checked };
    if (!path.endsWith('/confirm')) return { status: 200, body: claimed };
    if (confirmed === 'conflict') return errorResponse(409, 'payment_conflict');
    const { address } = body as { address: string };
    if (!('fault' in confirmed)) claim({ destination: address, claim_expires_at: undefined });
    return { status: 200, body: confirmed };
  };
});
afterAll(() => gateway.close());

const claim = (more: Partial<Refund> = {}, about: Partial<ClaimedRefund> = {}) => {
  const { tx_hash: _, destination: __, ...refund } = refundOf(claimed!.refund.id, merchant.id, claimed!.refund);
  claimed = { refund: { ...refund, ...more }, on_page: false, is_expired: false, ...about };
};

beforeEach(async () => {
  const order = orderOf(`ord_${newUlid()}`, merchant.id);
  reference = newUlid();
  await projectOrder(gateway.pool, order);
  claimed = {
    refund: refundOf(`rfd_${newUlid()}`, merchant.id, {
      order_id: order.id,
      status: 'pending',
      amount: '10.500000',
      currency: 'USDC',
      network: 'base',
      asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      claim_expires_at: EXPIRES,
    }),
    on_page: false,
    is_expired: false,
  };
  claim();
  checked = { destination: PAYER, has_checksum: true };
  confirmed = checked;
});

const url = `/pay/refunds/${TOKEN}`;
const html = { accept: 'text/html' };
const get = (path = url) => gateway.app.inject({ url: path, headers: html });
const post = (path: string, address: string, headers: object = { 'sec-fetch-site': 'same-origin' }) =>
  gateway.app.inject({
    method: 'POST',
    url: path,
    headers: { ...html, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams({ address }).toString(),
  });

test('the page says what the payer gets, and has the headers of the payment page', async () => {
  const page = await get();
  expect(page.statusCode).toBe(200);
  expect(page.headers).toMatchObject({
    'content-security-policy': expect.stringMatching(
      /^default-src 'none';.*form-action 'self';.*frame-ancestors 'none'$/,
    ),
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
  });
  expect(page.headers).not.toHaveProperty('set-cookie');
  expect(page.body).not.toContain('<script');
  for (const text of ['10.50 USDC', 'USDC on Base', 'Ada Byron', `action="${url}/check"`, 'Jan 31, 2030'])
    expect(page.body).toContain(text);
});

test('the page of a sandbox has its mark in every language', async () => {
  expect((await get()).body).not.toContain('sandbox-mark');
  const sandbox = await startGateway({ environment: 'sandbox' });
  const { id } = await sandbox.merchant();
  const refund = { ...claimed!.refund, merchant_id: id };
  sandbox.payments.respond = () => ({ status: 200, body: { ...claimed, refund } });
  for (const language of ['en', 'es', 'pt']) {
    const { body } = await sandbox.app.inject({ url: `${url}?lang=${language}`, headers: html });
    expect(body).toContain('<span class="sandbox-mark">Sandbox</span>');
  }
  await sandbox.close();
});

test('an address is checked, shown, and recorded by the second form', async () => {
  const check = await post(`${url}/check`, ` ${PAYER.slice(0, 20)}\n${PAYER.slice(20)} `);
  expect(check.statusCode).toBe(200);
  expect(check.body).toContain('Is this your address?');
  expect(check.body).toContain(`<span>${PAYER}</span>`);
  expect(check.body).toContain(`<input type="hidden" name="address" value="${PAYER}"/>`);
  expect(check.body).not.toContain('no checksum');
  expect(gateway.payments.calls.at(-1)).toMatchObject({ body: { address: PAYER } });
  expect((await get()).body).toContain('Where should your refund go?');

  const confirm = await post(`${url}/confirm?lang=es`, PAYER);
  expect([confirm.statusCode, confirm.headers.location]).toEqual([303, `${url}?lang=es`]);
  const page = await get();
  expect(page.body).toContain('Your address was recorded');
  expect(page.body).toContain(PAYER);
  expect(page.body).not.toContain('<form');
});

test('an address without a checksum is shown with a warning', async () => {
  checked = { destination: PAYER, has_checksum: false };
  expect((await post(`${url}/check`, PAYER.toLowerCase())).body).toContain('it has no checksum');
});

test.each([
  ['form', 'This is not an address on Base'],
  ['checksum', 'One of the characters is wrong'],
  ['zero', 'belongs to nobody'],
  ['other_network', 'on another network'],
  ['token', 'the contract of a token'],
  ['not_of_payer', 'belongs to the merchant'],
] as const)('says what is wrong with an address: %s', async (fault, text) => {
  checked = { fault };
  confirmed = { fault };
  for (const step of ['check', 'confirm']) {
    const { statusCode, body } = await post(`${url}/${step}`, '<b>0x1');
    expect(statusCode).toBe(200);
    expect(body).toContain(text);
    expect(body).toContain('&lt;b>0x1</textarea>');
    expect(body).toContain('aria-invalid="true"');
    expect(body).toContain('<title>Address refused: ');
  }
});

test('texts that are too long for an address are refused without a call', async () => {
  const calls = () => gateway.payments.calls.filter(({ path }) => path.endsWith('/check')).length;
  const before = calls();
  expect((await post(`${url}/check`, '1'.repeat(129))).body).toContain('This is not an address on Base');
  expect(calls()).toBe(before);
});

test.each<[string, Partial<Refund>, Partial<ClaimedRefund>, string]>([
  ['an address of another tab', { destination: PAYER }, {}, 'Your address was recorded'],
  ['the cancellation by the merchant', { status: 'canceled' }, {}, 'This refund was canceled'],
  ['the end of the link', {}, { is_expired: true }, 'This link has expired'],
  ['the transfer', { status: 'sent', destination: PAYER, tx_hash: '0xfeed' }, {}, '0xfeed'],
])('both forms lead to what has happened meanwhile: %s', async (_, refund, about, text) => {
  claim(refund, about);
  confirmed = 'conflict';
  for (const step of ['check', 'confirm']) {
    const answer = await post(`${url}/${step}`, PAYER);
    expect([answer.statusCode, answer.headers.location]).toEqual([303, url]);
  }
  const { body } = await get();
  expect(body).toContain(text);
  expect(body).not.toContain('<form');
});

test('leads to the transfer where an explorer shows it', async () => {
  const sent = { status: 'sent', destination: PAYER, tx_hash: '0xfeed' } as const;
  claim(sent, { explorer: 'https://basescan.org' });
  expect((await get()).body).toContain(
    '<a href="https://basescan.org/tx/0xfeed" target="_blank" rel="noreferrer"><code>0xfeed</code></a>',
  );
  claim(sent);
  expect((await get()).body).toContain('<code>0xfeed</code>');
  expect((await get()).body).not.toContain('/tx/0xfeed');
});

test('says that an address cannot be recorded at the moment', async () => {
  confirmed = 'conflict';
  const { statusCode, body } = await post(`${url}/confirm`, PAYER);
  expect(statusCode).toBe(200);
  expect(body).toContain('cannot be recorded at the moment');
});

test.each([
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
])('refuses a form of another site: %j', async (headers) => {
  const before = gateway.payments.calls.length;
  for (const step of ['check', 'confirm']) expect((await post(`${url}/${step}`, PAYER, headers)).statusCode).toBe(403);
  expect(gateway.payments.calls).toHaveLength(before);
});

test.each([
  ['en', 'This refund link does not work', 'Ask the merchant for the newest link'],
  ['es', 'Este enlace de reembolso no funciona', 'Pide al comercio el enlace más nuevo'],
  ['pt', 'Este link de reembolso não funciona', 'Peça à loja o link mais novo'],
])('unknown and replaced links get a page that asks for the newest link: %s', async (language, title, advice) => {
  const unknown = await get(`/pay/refunds/${TOKEN.replace('0', '1')}?lang=${language}`);
  expect([unknown.statusCode, unknown.body]).toEqual([404, expect.stringContaining(`<h1>${title}</h1>`)]);
  expect(unknown.body).toContain(advice);
  const onPage = await get(`/pay/${reference}/refunds/${'0'.repeat(64)}?lang=${language}`);
  expect([onPage.statusCode, onPage.body]).toEqual([404, unknown.body]);
});

test('malformed links get the same page without a call', async () => {
  const before = gateway.payments.calls.length;
  for (const token of ['x', `${TOKEN}0`, TOKEN.toUpperCase(), hashOfClaimToken(TOKEN), '%00'])
    expect(await get(`/pay/refunds/${token}`)).toMatchObject({
      statusCode: 404,
      body: expect.stringContaining('This refund link does not work'),
    });
  expect(gateway.payments.calls).toHaveLength(before);
});

test('an outage is a page that leads back to the link', async () => {
  const { respond } = gateway.payments;
  gateway.payments.respond = () => errorResponse(503, 'dependency_unavailable');
  const { statusCode, body } = await post(`${url}/confirm?lang=pt`, PAYER);
  expect(statusCode).toBe(503);
  expect(body).toContain(`href="${url}?lang=pt"`);
  gateway.payments.respond = respond;
});

describe('on the page of the order', () => {
  const path = () => `/pay/${reference}/refunds/${hashOfClaimToken(TOKEN)}`;

  test('the link works if the merchant shows it there', async () => {
    claim({}, { on_page: true });
    expect((await get(path())).body).toContain(`action="${path()}/check"`);
    expect((await post(`${path()}/confirm`, PAYER)).headers.location).toBe(path());
  });

  test('there is no such link otherwise, or under the reference of another order', async () => {
    expect((await get(path())).statusCode).toBe(404);
    claim({}, { on_page: true });
    const other = path().replace(reference, newUlid());
    expect((await get(other)).statusCode).toBe(404);
    expect((await post(`${other}/confirm`, PAYER)).statusCode).toBe(404);
    expect(claimed!.refund).not.toHaveProperty('destination');
  });
});

describe('POST /v1/refunds/{id}/claim', () => {
  const create = (body?: object, headers?: Record<string, string>) =>
    merchant.send('POST', `/v1/refunds/${claimed!.refund.id}/claim`, body, headers);

  test('makes a link of which only the hash leaves the gateway', async () => {
    const { status, body } = await create();
    expect(status).toBe(200);
    const [, token] = /^https:\/\/pay\.test\/pay\/refunds\/([\da-f]{32})$/.exec(body.claim_url as string)!;
    expect(body.refund).toMatchObject({ id: claimed!.refund.id, claim_expires_at: EXPIRES });
    const sent = gateway.payments.calls.at(-1)!.body;
    expect(sent).toEqual({ merchant_id: merchant.id, token_hash: hashOfClaimToken(token!), show_on_page: false });
  });

  test('a repeat with the same Idempotency-Key has the same link, which is stored encrypted', async () => {
    const key = { 'idempotency-key': newUlid() };
    const first = await create({}, key);
    expect((await create({}, key)).body).toEqual(first.body);
    const { rows } = await gateway.pool.query('select answer from gateway.idempotency_keys where key = $1', [
      key['idempotency-key'],
    ]);
    expect(rows).toHaveLength(1);
    expect(rows[0]!.answer).not.toContain('/pay/refunds/');
    expect((await create()).body.claim_url).not.toBe(first.body.claim_url);
  });

  test('shows it on a page only where the order has one of this gateway', async () => {
    const page = {
      rail: 'gateway_pay',
      currency: 'USDC',
      amount: '10',
      payment_reference: 'R1',
      payment_url: 'https://pay.test/pay/R1',
      expires_at: EXPIRES,
    } as const;
    const answerWith = async (deposit_instructions: Order['deposit_instructions']) => {
      const order = orderOf(`ord_${newUlid()}`, merchant.id, { deposit_instructions });
      await projectOrder(gateway.pool, order);
      claimed!.refund = { ...claimed!.refund, id: `rfd_${newUlid()}`, order_id: order.id };
      await projectRefund(gateway.pool, claimed!.refund);
      return create({ show_on_page: true });
    };
    expect(await answerWith([{ ...page, provider: 'hosted' }])).toMatchObject({ status: 200 });
    for (const instructions of [[], [{ ...page, provider: 'acme' }]])
      expect(await answerWith(instructions)).toMatchObject({
        status: 400,
        body: { details: [{ path: 'show_on_page' }] },
      });
  });
});
