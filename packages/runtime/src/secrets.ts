import { z } from 'zod';
import { CommaSeparatedList } from './comma-separated-list.ts';

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

const SECRETS = ['INTERNAL_TOKEN', 'API_KEY_PEPPER', 'WEBHOOK_ENCRYPTION_KEY'] as const;

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

/** The secrets of a production that anybody could guess, as `NAME: fault`. Never contains a secret. */
export const guessableSecrets = (env: Readonly<Record<string, string | undefined>>): string[] => [
  ...SECRETS.filter((name) =>
    (env[name] ?? '').split(',').some((part) => part.trim() !== '' && isGuessable(part.trim())),
  ).map((name) => `${name}: is not random: generate it with openssl rand -hex 32`),
  ...(['DATABASE_URL', 'EVENTSTORE_URL'] as const)
    .filter((name) => hasDefaultPassword(env[name]))
    .map((name) => `${name}: has a default password: set one of your own`),
  ...(env.KAFKA_SASL_PASSWORD !== undefined && DEFAULT_PASSWORDS.has(env.KAFKA_SASL_PASSWORD)
    ? ['KAFKA_SASL_PASSWORD: is a default password: set one of your own']
    : []),
];

/** Whether a text has few characters, or repeats a shorter one. */
const isGuessable = (text: string): boolean => new Set(text).size < FEWEST_CHARACTERS || /^(.{1,16})\1+$/.test(text);

const hasDefaultPassword = (url: string | undefined): boolean => {
  const [, password] = /^[a-z+]+:\/\/[^:@/]*:([^@]*)@/.exec(url ?? '') ?? [];
  return password !== undefined && DEFAULT_PASSWORDS.has(decodeURIComponent(password));
};
