import { createHmac, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { aDelivery } from '../testing/jest-deliveries.ts';
import { headersOf, signingKey } from './sign.ts';

const secrets = [1, 2].map(() => `whsec_${randomBytes(32).toString('base64')}`);
const headers = (keys: Buffer[], now = new Date()) => {
  const flat = headersOf(delivery, keys, now);
  return Object.fromEntries(flat.flatMap((name, index) => (index % 2 ? [] : [[name, flat[index + 1]!]])));
};
const delivery = aDelivery();
const payload = delivery.event.body.toString();

test('the Standard Webhooks library accepts the signature, and no other body or secret', () => {
  const signed = headers([signingKey(secrets[0]!)]);
  expect(new Webhook(secrets[0]!).verify(payload, signed)).toEqual({ event: 'order:paid' });
  expect(() => new Webhook(secrets[0]!).verify(`${payload} `, signed)).toThrow();
  expect(() => new Webhook(secrets[1]!).verify(payload, signed)).toThrow();
});

test('either secret verifies during a rotation', () => {
  const signed = headers(secrets.map(signingKey));
  for (const secret of secrets) expect(new Webhook(secret).verify(payload, signed)).toBeTruthy();
});

test('x-signature has the same MAC in hex, over id, seconds and raw body', () => {
  const signed = headers(secrets.map(signingKey), new Date('2026-01-31T12:00:00.900Z'));
  const macs = secrets.map((secret) =>
    createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${delivery.event.id}.1769860800.${payload}`)
      .digest('hex'),
  );
  expect(signed['x-signature']).toBe(`t=1769860800,v1=${macs[0]},v1=${macs[1]}`);
});

test('the other headers identify the event and the delivery', () =>
  expect(headers([signingKey(secrets[0]!)])).toMatchObject({
    'content-type': 'application/json',
    'x-timestamp': '1769860800123',
    'x-idempotency-key': delivery.event.id,
    'x-sequence': '4',
    'x-event-hash': 'ab12',
    'x-delivery-id': delivery.id,
    'webhook-id': delivery.event.id,
  }));

test('a sample has no hash', () => {
  const sample = aDelivery({ event: { ...delivery.event, hash: null } });
  expect(headersOf(sample, [signingKey(secrets[0]!)], new Date())).not.toContain('x-event-hash');
});

test('refuses a secret of another form', () => expect(() => signingKey('secret')).toThrow(RangeError));
