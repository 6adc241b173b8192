import { randomInt } from 'node:crypto';
import { z } from 'zod';

/** The scopes of API keys, and what each allows. `self` means: only resources of the key's own merchant. */
export const SCOPES = {
  'merchant:self:read': 'read the merchant, the look of its payment page, and the currencies that it can use',
  'merchant:self:update': 'change the profile, the defaults of orders and the look of the payment page',
  'orders:self:create': 'create orders',
  'orders:self:read': 'read and list orders, their state at an instant and their history',
  'orders:self:update': 'change, cancel, capture and accept orders',
  'orders:self:delete': 'delete orders',
  'payments:self:read': 'read and list payments and refunds',
  'payments:self:refund': 'refund payments and orders: record, request and cancel refunds, and make claim links',
  'webhooks:self:create': 'create webhooks',
  'webhooks:self:read': 'read and list webhooks, deliveries and replays',
  'webhooks:self:update': 'change webhooks, send deliveries again, start and cancel replays',
  'webhooks:self:delete': 'delete webhooks',
  'reports:self:read': 'read the overview and the volume by day',
  'api-keys:self:create': 'create API keys that may do no more than this one',
  'api-keys:self:read': 'read and list API keys, without their secrets',
  'api-keys:self:update': 'change and rotate API keys that may do no more than this one',
  'api-keys:self:revoke': 'revoke API keys',
  'users:self:create': 'invite users whose role allows no more than this',
  'users:self:read': 'read and list users and roles',
  'users:self:update': 'change users, and make sign-in links, where the role allows no more than this',
  'users:self:delete': 'delete users whose role allows no more than this',
  'requests:self:read': 'list the requests that were made with the keys of the merchant',
  'audit-log:self:read': 'list who changed keys, users, webhooks and settings',
} as const;

export const Scope = z.enum(Object.keys(SCOPES) as [keyof typeof SCOPES, ...(keyof typeof SCOPES)[]]);
export type Scope = z.infer<typeof Scope>;

export const KeyEnvironment = z.enum(['sandbox', 'live']);
export type KeyEnvironment = z.infer<typeof KeyEnvironment>;

/** A parsed API key: `ak_<environment>_<kid><secret>`. The key id `kid` finds the credential, the secret
 *  authenticates. */
export interface ApiKey {
  /** The whole key, with its secret: never log it. */
  readonly text: string;
  readonly environment: KeyEnvironment;
  readonly kid: string;
  readonly secret: string;
}

const KID_LENGTH = 12;
// 62^43 > 2^256.
const SECRET_LENGTH = 43;
// Of kid and secret together. Keys that this gateway generates have 55.
const LENGTHS = { min: 32, max: 128 };
const SECRET_LENGTHS = `${LENGTHS.min - KID_LENGTH},${LENGTHS.max - KID_LENGTH}`;
const PATTERN = new RegExp(`^ak_(sandbox|live)_([A-Za-z0-9]{${KID_LENGTH}})([A-Za-z0-9]{${SECRET_LENGTHS}})$`);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Parses a key: a prefix, then 32 to 128 letters and digits. Null when the text has another form. */
export const parseApiKey = (text: string): ApiKey | null => {
  const [, environment, kid, secret] = PATTERN.exec(text) ?? [];
  return environment && kid && secret ? { text, environment: environment as KeyEnvironment, kid, secret } : null;
};

/** Generates a random key, or a new secret for the key `kid`. A secret has at least 256 bits of entropy. */
export const makeApiKey = (environment: KeyEnvironment, kid = randomText(KID_LENGTH)): ApiKey => {
  const secret = randomText(SECRET_LENGTH);
  return { text: `${startOfKeys(environment)}${kid}${secret}`, environment, kid, secret };
};

/** How all keys of an environment begin. The id of the key follows. */
export const startOfKeys = (environment: KeyEnvironment): string => `ak_${environment}_`;

/** The environment of the keys of a gateway, by its `ENVIRONMENT`. */
export const keyEnvironmentOf = (environment: 'sandbox' | 'production'): KeyEnvironment =>
  environment === 'production' ? 'live' : 'sandbox';

const randomText = (length: number): string =>
  Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
