import { randomInt } from 'node:crypto';
import { z } from 'zod';

/** The scopes of API keys. `self` means: only resources of the key's own merchant. */
export const Scope = z.enum([
  'merchant:self:read',
  'merchant:self:update',
  'orders:self:create',
  'orders:self:read',
  'orders:self:update',
  'orders:self:delete',
  'payments:self:read',
  'payments:self:refund',
  'webhooks:self:create',
  'webhooks:self:read',
  'webhooks:self:update',
  'webhooks:self:delete',
]);
export type Scope = z.infer<typeof Scope>;

export type KeyEnvironment = 'sandbox' | 'live';

/** A parsed API key: `ak_<environment>_<kid><secret>`. The key id `kid` finds the credential, the secret
 *  authenticates. */
export interface ApiKey {
  readonly text: string;
  readonly environment: KeyEnvironment;
  readonly kid: string;
  readonly secret: string;
}

const KID_LENGTH = 12;
// 62^43 > 2^256.
const SECRET_LENGTH = 43;
const PATTERN = new RegExp(`^ak_(sandbox|live)_([A-Za-z0-9]{${KID_LENGTH}})([A-Za-z0-9]{20,116})$`);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Parses a key: a prefix, then 32 to 128 letters and digits. Null when the text has another form. */
export const parseApiKey = (text: string): ApiKey | null => {
  const [, environment, kid, secret] = PATTERN.exec(text) ?? [];
  return environment && kid && secret ? { text, environment: environment as KeyEnvironment, kid, secret } : null;
};

/** Generates a random key. Its secret has at least 256 bits of entropy. */
export const makeApiKey = (environment: KeyEnvironment): ApiKey => {
  const [kid, secret] = [randomText(KID_LENGTH), randomText(SECRET_LENGTH)];
  return { text: `ak_${environment}_${kid}${secret}`, environment, kid, secret };
};

export const keyEnvironmentOf = (environment: 'sandbox' | 'production'): KeyEnvironment =>
  environment === 'production' ? 'live' : 'sandbox';

const randomText = (length: number): string =>
  Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
