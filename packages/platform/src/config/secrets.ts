import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { CommaSeparatedList } from './values.ts';

// Texts that examples and templates use in the place of a secret.
const PLACEHOLDER =
  /change[-_ ]?(me|this|it)|example|default|placeholder|replace[-_ ]?(me|this)|your[-_ ]?(own|secret|key|token|pepper|password)/i;

/** A secret of at least 32 characters. Rejects placeholders such as `change-me`. */
export const Secret = z
  .string()
  .min(32, { error: 'must have at least 32 characters' })
  .refine((text) => !PLACEHOLDER.test(text), { error: 'is a placeholder: generate a secret of your own' });

/** Comma-separated secrets, for rotation: the first one is used for new data, all of them are accepted. */
export const SecretList = CommaSeparatedList.pipe(z.array(Secret));

// A token is of one caller for one service: `GATEWAY_TO_ORDERS_TOKEN`.
const SECRET = '[A-Z_]+_TO_[A-Z_]+_TOKEN|METRICS_TOKEN|API_KEY_PEPPER|WEBHOOK_ENCRYPTION_KEY|AUDIT_LOG_KEY';
const SECRET_NAME = new RegExp(`^(${SECRET})$`);
const WITH_PASSWORD = 'DATABASE_URL|EVENTSTORE_URL|KAFKA_SASL_PASSWORD|CHAIN_URLS|WEBHOOK_PROXY_URL|OIDC_CLIENT_SECRET';
const FILE_NAME = new RegExp(`^(${SECRET}|${WITH_PASSWORD})_FILE$`);

type Environment = Readonly<Record<string, string | undefined>>;

/** The values of each secret in an environment. */
const secretsIn = (env: Environment): [name: string, values: string[]][] =>
  Object.entries(env)
    .filter(([name]) => SECRET_NAME.test(name))
    .map(([name, text = '']) => {
      const values = text.split(',').map((part) => part.trim());
      return [name, values.filter((part) => part !== '')];
    });

// Passwords that engines, their images and their guides start with.
const DEFAULT_PASSWORDS = new Set([
  'postgres',
  'password',
  'changeit',
  'changeme',
  'admin',
  'admin-secret',
  'secret',
  'root',
  'test',
  'guest',
  'cpg',
  '',
]);

const FEWEST_CHARACTERS = 8;

/** The secrets in the files that `NAME_FILE` variables name, without the line feed at their ends. */
export const readSecretFiles = (
  env: Environment,
): { readonly secrets: Record<string, string>; readonly faults: readonly string[] } => {
  const secrets: Record<string, string> = {};
  const faults: string[] = [];
  for (const [variable, path] of Object.entries(env)) {
    const [, name] = FILE_NAME.exec(variable) ?? [];
    if (name === undefined || path === undefined) continue;
    if (env[name] !== undefined) faults.push(`${name}: is set twice: remove ${name} or ${variable}`);
    else secrets[name] = readSecret(variable, path, faults);
  }
  return { secrets, faults };
};

const readSecret = (variable: string, path: string, faults: string[]): string => {
  try {
    const secret = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (secret === '') faults.push(`${variable}: the file ${path} is empty`);
    return secret;
  } catch (error) {
    faults.push(`${variable}: the file ${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
    return '';
  }
};

/** The secrets of a production that anybody could guess, as `NAME: fault`. Never contains a secret. */
export const guessableSecrets = (env: Environment): string[] => [
  ...secretsIn(env)
    .filter(([, values]) => values.some(isGuessable))
    .map(([name]) => `${name}: is not random: generate it with openssl rand -hex 32`),
  ...(['DATABASE_URL', 'EVENTSTORE_URL'] as const)
    .filter((name) => hasDefaultPassword(env[name]))
    .map((name) => `${name}: has a default password: set one of your own`),
  ...(env.KAFKA_SASL_PASSWORD !== undefined && DEFAULT_PASSWORDS.has(env.KAFKA_SASL_PASSWORD)
    ? ['KAFKA_SASL_PASSWORD: is a default password: set one of your own']
    : []),
];

/** The secrets that have a value of another one, as `NAME: fault`: one that leaks must not open a second door. */
export const sharedSecrets = (env: Environment): string[] => {
  const owners = new Map<string, string>();
  return secretsIn(env).flatMap(([name, values]) => {
    const other = values.map((value) => owners.get(value)).find((owner) => owner !== undefined);
    for (const value of values) owners.set(value, name);
    return other === undefined || other === name ? [] : [`${name}: has a value of ${other}: generate one of its own`];
  });
};

/** Whether a text has few characters, or repeats a shorter one. */
export const isGuessable = (text: string): boolean =>
  new Set(text).size < FEWEST_CHARACTERS || /^(.{1,16})\1+$/.test(text);

const hasDefaultPassword = (url: string | undefined): boolean => {
  const [, password] = /^[a-z+]+:\/\/[^:@/]*:([^@]*)@/.exec(url ?? '') ?? [];
  return password !== undefined && DEFAULT_PASSWORDS.has(decoded(password));
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
