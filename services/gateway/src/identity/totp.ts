import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { hashOfToken } from './tokens.ts';

// What authenticator apps understand: RFC 6238 with SHA-1, 6 digits and steps of 30 seconds.
const SETTINGS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Clocks of phones differ: the code before and the code after are accepted too. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

export interface NewTotp {
  /** In base 32, to type. */
  readonly secret: string;
  /** `otpauth://…`, to show as a QR code. */
  readonly uri: string;
}

/** A new secret of 160 bits for the authenticator app of a user. */
export const newTotp = ({ issuer, email }: { issuer: string; email: string }): NewTotp => {
  const totp = new TOTP({ ...SETTINGS, issuer, label: email, secret: new Secret({ size: 20 }) });
  return { secret: totp.secret.base32, uri: totp.toString() };
};

/** The time step (RFC 6238) for which `code` is right at `at`; null for a wrong code. */
export const stepOf = (code: string, secret: string, at: Date): number | null => {
  const totp = new TOTP({ ...SETTINGS, secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token: code.replaceAll(' ', ''), timestamp: at.getTime(), window: WINDOW });
  return delta === null ? null : totp.counter({ timestamp: at.getTime() }) + delta;
};

/** New codes of 80 random bits, such as `8kq2-…`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    [...randomBytes(16)]
      .map((byte) => CROCKFORD[byte & 31])
      .join('')
      .replace(/(.{4})(?=.)/g, '$1-'),
  );

/** The hash under which a code is stored. Letters, spaces and hyphens may be typed in any way. */
export const hashOfRecoveryCode = (code: string): string => hashOfToken(code.toLowerCase().replace(/[\s-]/g, ''));
