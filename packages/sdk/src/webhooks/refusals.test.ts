import { AT, BODY, check, faultOf, macOf, newSecret, own, SECRET, standard } from './testing/jest-signatures.ts';
import { verify } from './verify.ts';

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
  [{ ...own(SECRET), 'x-sequence': 'first' }, 'malformed_header'],
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

test.each([NaN, -1, '300', null])(
  'refuses %p as a tolerance, which would accept a delivery of any age',
  (tolerance) => {
    const muchLater = () => new Date((AT + 1e6) * 1_000);
    const options = { now: muchLater, toleranceSeconds: tolerance as number };
    expect(() => check(own(SECRET), options)).toThrow(/^toleranceSeconds must be/);
  },
);

test('refuses a delivery when the clock has no time', () =>
  expect(faultOf(() => check(own(SECRET), { now: () => new Date(NaN) }))).toBe('timestamp_too_old'));

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

test.each([undefined, null])('throws a TypeError for %p as the headers', (headers) => {
  expect(() => verify(BODY, headers as never, SECRET)).toThrow(new TypeError('pass the headers of the request'));
});
