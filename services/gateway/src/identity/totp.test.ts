import { hashOfRecoveryCode, newRecoveryCodes, newTotp, stepOf } from './totp.ts';

// RFC 6238, appendix B: the secret is the ASCII text 12345678901234567890. The codes are the last 6 digits of 8.
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const at = (seconds: number) => new Date(seconds * 1_000);

test.each<[number, string, number]>([
  [59, '287082', 1],
  [1_111_111_109, '081804', 37_037_036],
  [1_234_567_890, '005924', 41_152_263],
  [20_000_000_000, '353130', 666_666_666],
])('at %i s the code of RFC 6238 is right, for the step %i', (seconds, code, step) => {
  expect(stepOf(code, SECRET, at(seconds))).toBe(step);
});

test('a clock may be a step away, and not two', () => {
  const steps = [-60, -30, 0, 30, 60].map((off) => stepOf('005924', SECRET, at(1_234_567_890 + off)));
  expect(steps).toEqual([null, 41_152_263, 41_152_263, 41_152_263, null]);
});

test.each(['005925', '5924', '0059244', 'abcdef', ''])('%s is wrong', (code) => {
  expect(stepOf(code, SECRET, at(1_234_567_890))).toBeNull();
});

test('a code may be typed with a space', () => {
  expect(stepOf('005 924', SECRET, at(1_234_567_890))).not.toBeNull();
});

test('a new secret has 160 bits, and names the merchant and the user', () => {
  const { secret, uri } = newTotp({ issuer: 'Demo shop', email: 'ada@shop.example' });
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(uri).toContain('otpauth://totp/Demo%20shop:ada%40shop.example?');
  expect(uri).toContain(`secret=${secret}`);
});

test('recovery codes differ, and can be typed in any way', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  expect(codes[0]).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  const typed = codes[0]!.toUpperCase().replaceAll('-', ' ');
  expect(hashOfRecoveryCode(typed)).toBe(hashOfRecoveryCode(codes[0]!));
  expect(hashOfRecoveryCode(codes[1]!)).not.toBe(hashOfRecoveryCode(codes[0]!));
});
