import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { WebhookEvent } from './events.ts';
import { BODY, check, faultOf, ID, newSecret, now, own, SECRET, standard } from './testing/jest-signatures.ts';

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

test.each([
  ['0', 0],
  ['17', 17],
  [undefined, undefined],
])('the event has the number %j of its order or payment', (text, sequence) => {
  expect(check({ ...own(SECRET), 'x-sequence': text }).sequence).toBe(sequence);
  if (text !== undefined) expect(check(new Headers({ ...own(SECRET), 'x-sequence': text })).sequence).toBe(sequence);
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
