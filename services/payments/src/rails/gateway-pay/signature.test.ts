import { requireSignature, signedHeaders } from './signature.ts';

const NOW = new Date('2026-01-31T12:00:00.500Z');
const SECRET = 'a secret of the provider, thirty-two characters';
const OLDER = 'the secret before the rotation, thirty-two long';
const BODY = '{"amount":"10"}';

const verify = ({ body = BODY, secret = SECRET, secrets = [SECRET], sentAt = NOW, now = NOW, change = {} } = {}) => {
  const headers = signedHeaders(secret, BODY, sentAt);
  const sent = { timestamp: headers['x-provider-timestamp'], signature: headers['x-provider-signature'], ...change };
  return () => requireSignature(sent, Buffer.from(body), { secrets, now });
};
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const refused = expect.objectContaining({ code: 'invalid_signature' });

test('accepts the signature of a body, also by the older of two secrets', () => {
  verify()();
  verify({ secret: OLDER, secrets: [SECRET, OLDER] })();
});

test('agrees with a signature that was computed elsewhere', () => {
  // printf '1769860800.{"amount":"10"}' | openssl dgst -sha256 -hmac "$SECRET"
  const signature = 'v1=4d5f6387f55bddfaa789c00a38471817197cec68395e72d9b6ef3bcb5e5ce1c7';
  requireSignature({ timestamp: '1769860800', signature }, Buffer.from(BODY), { secrets: [SECRET], now: NOW });
});

test('accepts a clock that differs by up to five minutes', () => {
  for (const seconds of [-299, 299]) verify({ now: later(seconds) })();
});

test.each([
  ['a changed body', { body: '{"amount":"99"}' }],
  ['the same JSON with other spaces', { body: '{"amount": "10"}' }],
  ['an unknown secret', { secret: 'some other secret of thirty-two characters' }],
  ['a secret that was removed', { secret: OLDER }],
  ['a replay after five minutes', { now: later(301) }],
  ['a timestamp in the future', { now: later(-301) }],
  ['another timestamp than the signed one', { change: { timestamp: '1769860801' } }],
  ['a missing timestamp', { change: { timestamp: undefined } }],
  ['a timestamp that is no number', { change: { timestamp: '1769860800abc' } }],
  ['a missing signature', { change: { signature: undefined } }],
  ['another version', { change: { signature: `v2=${'0'.repeat(64)}` } }],
  ['a short signature', { change: { signature: 'v1=00' } }],
])('refuses %s', (_, difference) => expect(verify(difference)).toThrow(refused));
