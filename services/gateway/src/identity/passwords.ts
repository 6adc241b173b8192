import { hash, verify } from '@node-rs/argon2';
import { dictionary } from '@zxcvbn-ts/language-common';

// NIST SP 800-63B, 3.1.1: length and a list of known passwords, and no rules about kinds of characters.
const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 256;
const MIN_DIFFERENT = 5;

// OWASP's Password Storage Cheat Sheet.
const ARGON2ID = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

const KNOWN = new Set(dictionary['passwords-common'] as readonly string[]);

/** Passwords are compared in Unicode form NFKC: the same keys give different code points on different systems. */
const normal = (password: string): string => password.normalize('NFKC');

/** What is wrong with a new password; null for a good one. `words` are those that an attacker tries first, such as the
 *  email address. */
export const passwordFault = (password: string, words: readonly string[]): string | null => {
  const text = normal(password);
  const length = [...text].length;
  const lower = text.toLowerCase();
  if (length < MIN_CHARACTERS) return `must have at least ${MIN_CHARACTERS} characters: four words are easy to keep`;
  if (length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  if (new Set(text).size < MIN_DIFFERENT) return `must have at least ${MIN_DIFFERENT} different characters`;
  if (KNOWN.has(lower)) return 'is in a list of passwords that attackers try first: choose another one';
  if (words.some((word) => isMostOf(word.toLowerCase(), lower)))
    return 'is little more than your name, your email address or the name of the merchant: choose another one';
  return null;
};

/** Whether a text without `word` is too short to be a password by itself. */
const isMostOf = (word: string, text: string): boolean =>
  word.length >= 4 && text.includes(word) && text.length - word.length < MIN_CHARACTERS / 2;

export const hashPassword = (password: string): Promise<string> => hash(normal(password), ARGON2ID);

// Of a password that nobody has, with the same cost.
let decoy: Promise<string> | undefined;

/** Whether the password has this hash. Without a hash it is wrong, after the same time, so that the time does not tell
 *  which users exist. */
export const verifyPassword = async (password: string, stored: string | null): Promise<boolean> => {
  decoy ??= hashPassword(crypto.randomUUID());
  const isRight = await verify(stored ?? (await decoy), normal(password));
  return isRight && stored !== null;
};
