import { createHmac, randomBytes } from 'node:crypto';
import type { Order as ApiOrder, Payment as ApiPayment, WebhookEventType as ApiEventType } from '@cpg/contracts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { WebhookVerificationError } from './error.ts';
import type { Order, Payment, WebhookEvent, WebhookEventType } from './events.ts';
import { verify, type VerifyOptions } from './verify.ts';

// A type error here means that the types of the API and of this package differ.
type Same<A, B> = [A, B] extends [B, A] ? true : never;
const _order: Same<Order, ApiOrder> = true;
const _payment: Same<Payment, ApiPayment> = true;
const _types: Same<WebhookEventType, ApiEventType> = true;

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const SECRET = newSecret();
const ID = 'evt_01KG9Q2T8Q1A2B3C4D5E6F7G8H';
const AT = 1_769_861_074;
const BODY = '{"event":"order:paid","object_type":"order","timestamp":1769861074000,"data":{"id":"ord_1"}}';

const macOf = (secret: string, { id = ID, at = AT, body = BODY } = {}) =>
  createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${at}.${body}`)
    .digest();
const own = (...secrets: string[]) => ({
  'x-idempotency-key': ID,
  'x-signature': [`t=${AT}`, ...secrets.map((secret) => `v1=${macOf(secret).toString('hex')}`)].join(','),
});
const standard = (...secrets: string[]) => ({
  'webhook-id': ID,
  'webhook-timestamp': String(AT),
  'webhook-signature': secrets.map((secret) => `v1,${macOf(secret).toString('base64')}`).join(' '),
});
const now = () => new Date(AT * 1_000);
const check = (
  headers: Parameters<typeof verify>[1],
  {
    body = BODY,
    secret = SECRET,
    ...options
  }: VerifyOptions & {
    body?: string | Uint8Array;
    secret?: string | string[];
  } = {},
) => verify(body, headers, secret, { now, ...options });
const faultOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.fault;
    throw error;
  }
  return 'none';
};

const EVENT = { ...(JSON.parse(BODY) as object), id: ID };

test.each([
  ['the x- headers', own(SECRET)],
  ['the headers of Standard Webhooks', standard(SECRET)],
  ['both forms', { ...own(SECRET), ...standard(SECRET) }],
  ['names in mixed case', { 'X-Signature': own(SECRET)['x-signature'], 'X-Idempotency-Key': ID }],
  ['arrays of one value', { 'x-signature': [own(SECRET)['x-signature']], 'x-idempotency-key': [ID] }],
  ['the headers of fetch', new Headers(standard(SECRET))],
])('verifies a delivery by %s', (_, headers) => {
  expect(check(headers)).toEqual(EVENT);
});

test('the type of the event narrows the type of its data', () => {
  const event: WebhookEvent = check(own(SECRET));
  if (event.event === 'order:paid') expect(event.data.id).toBe('ord_1');
  // @ts-expect-error -- only payments have this field
  expect(event.data.paid_amount).toBeUndefined();
});

test('accepts the body as bytes', () => {
  expect(check(own(SECRET), { body: Buffer.from(BODY) })).toEqual(EVENT);
  expect(check(own(SECRET), { body: new TextEncoder().encode(BODY) })).toEqual(EVENT);
});

test('verifies with either secret during a rotation, and with both', () => {
  const next = newSecret();
  for (const signed of [own(SECRET, next), standard(SECRET, next)])
    for (const secret of [SECRET, next, [SECRET, next], [newSecret(), next]])
      expect(check(signed, { secret })).toEqual(EVENT);
  expect(check(own(next), { secret: [SECRET, next] })).toEqual(EVENT);
});

test('accepts signatures of the Standard Webhooks library, and the sample of its specification', () => {
  const signature = new StandardWebhook(SECRET).sign(ID, now(), BODY);
  expect(check({ ...standard(SECRET), 'webhook-signature': signature })).toEqual(EVENT);
  // From standardwebhooks.com. Its body is not an event of the gateway, which is checked after the signature.
  const sample = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const options = { secret, body: '{"test": 2432232314}', toleranceSeconds: Infinity };
  expect(faultOf(() => check(sample, options))).toBe('malformed_body');
});

test.each([
  ['another secret', own(newSecret()), BODY],
  ['a changed body', own(SECRET), BODY.replace('paid', 'lost')],
  ['a body that was parsed and serialized again', own(SECRET), JSON.stringify(JSON.parse(BODY), null, 1)],
  ['another event', { ...own(SECRET), 'x-idempotency-key': 'evt_2' }, BODY],
  [
    'another time',
    { ...own(SECRET), 'x-signature': own(SECRET)['x-signature'].replace(`t=${AT}`, `t=${AT + 1}`) },
    BODY,
  ],
  ['half a signature', { ...own(SECRET), 'x-signature': own(SECRET)['x-signature'].slice(0, -32) }, BODY],
  ['another secret in the other form', { ...standard(newSecret()) }, BODY],
])('refuses %s as a mismatch', (_, headers, body) => {
  expect(faultOf(() => check(headers, { body }))).toBe('signature_mismatch');
});

test.each([
  [{}, 'missing_header'],
  [{ 'x-signature': own(SECRET)['x-signature'] }, 'missing_header'],
  [{ ...standard(SECRET), 'webhook-id': undefined }, 'missing_header'],
  [{ ...standard(SECRET), 'webhook-timestamp': undefined }, 'missing_header'],
  [{ ...own(SECRET), 'x-signature': 'nonsense' }, 'malformed_header'],
  [{ ...own(SECRET), 'x-signature': `t=${AT}` }, 'malformed_header'],
  [{ ...own(SECRET), 'x-signature': 'v1=00' }, 'malformed_header'],
  [{ ...own(SECRET), 'x-signature': `t=1e9,v1=00` }, 'malformed_header'],
  [{ ...own(SECRET), 'x-signature': [own(SECRET)['x-signature'], 'another'] }, 'malformed_header'],
  [{ ...own(SECRET), 'x-idempotency-key': 'evt_1.2' }, 'malformed_header'],
  [{ ...standard(SECRET), 'webhook-signature': 'v2,AAAA' }, 'malformed_header'],
  [{ ...standard(SECRET), 'webhook-timestamp': 'yesterday' }, 'malformed_header'],
])('refuses the headers %j: %s', (headers, fault) => {
  expect(faultOf(() => check(headers))).toBe(fault);
});

test.each([
  [300, 'none'],
  [301, 'timestamp_too_old'],
  [-300, 'none'],
  [-301, 'timestamp_too_new'],
])('%i seconds after the attempt: %s', (seconds, fault) => {
  expect(faultOf(() => check(own(SECRET), { now: () => new Date((AT + seconds) * 1_000) }))).toBe(fault);
});

test('accepts another tolerance', () => {
  const later = { now: () => new Date((AT + 60) * 1_000) };
  expect(faultOf(() => check(own(SECRET), { ...later, toleranceSeconds: 59 }))).toBe('timestamp_too_old');
  expect(faultOf(() => check(own(SECRET), { ...later, toleranceSeconds: 60 }))).toBe('none');
});

test.each(['', 'not json', 'null', '"text"', '{"event":"order:paid"}', '{"data":{}}'])(
  'refuses the signed body %j, which is not an event',
  (body) => {
    const signature = `t=${AT},v1=${macOf(SECRET, { body }).toString('hex')}`;
    expect(faultOf(() => check({ ...own(SECRET), 'x-signature': signature }, { body }))).toBe('malformed_body');
  },
);

test.each([undefined, '', 'secret', 'whsec_', 'whsec_AAAA', []])('refuses %j as a secret', (secret) => {
  expect(() => verify(BODY, own(SECRET), secret as string)).toThrow(TypeError);
});

test('throws a TypeError for a parsed body', () => {
  expect(() => verify(JSON.parse(BODY) as never, own(SECRET), SECRET)).toThrow(/raw body/);
});
