import { randomInt } from 'node:crypto';

export type KeyEnvironment = 'sandbox' | 'live';

/** An API key taken apart: `ak_<environment>_<kid><secret>`. The kid names the record, the secret proves it. */
export interface ApiKey {
  readonly text: string;
  readonly environment: KeyEnvironment;
  readonly kid: string;
  readonly secret: string;
}

const KID_LENGTH = 12;
/** 62^43 > 2^256. */
const SECRET_LENGTH = 43;
const PATTERN = new RegExp(`^ak_(sandbox|live)_([A-Za-z0-9]{${KID_LENGTH}})([A-Za-z0-9]{20,116})$`);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Reads a key of 32 to 128 letters and digits after its prefix; null for anything else. */
export const parseApiKey = (text: string): ApiKey | null => {
  const [, environment, kid, secret] = PATTERN.exec(text) ?? [];
  return environment && kid && secret ? { text, environment: environment as KeyEnvironment, kid, secret } : null;
};

/** A new key whose secret has 256 bits. */
export const makeApiKey = (environment: KeyEnvironment): ApiKey => {
  const [kid, secret] = [letters(KID_LENGTH), letters(SECRET_LENGTH)];
  return { text: `ak_${environment}_${kid}${secret}`, environment, kid, secret };
};

export const keyEnvironmentOf = (environment: 'sandbox' | 'production'): KeyEnvironment =>
  environment === 'production' ? 'live' : 'sandbox';

const letters = (length: number): string => Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
