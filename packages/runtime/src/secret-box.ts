import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Encrypts secrets for storage. A box is `v1.<key id>.<base64url of nonce, tag and ciphertext>`. */
export interface SecretBox {
  readonly seal: (plain: string) => string;
  /** Whether the first key encrypted the box. */
  readonly isCurrent: (box: string) => boolean;
  /** Throws when no configured key matches, or when the box was changed. */
  readonly open: (box: string) => string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM (NIST SP 800-38D) with keys derived from `secrets` by SHA-256. The first key encrypts, and all keys
 *  decrypt. To rotate, put a new secret in front. Throws RangeError without secrets. */
export const secretBox = (secrets: readonly string[]): SecretBox => {
  const keys = secrets.map((secret) => {
    const key = createHash('sha256').update('secret-box').update(secret).digest();
    return { key, id: createHash('sha256').update(key).digest('hex').slice(0, 8) };
  });
  const first = keys[0];
  if (!first) throw new RangeError('at least one encryption key is required');
  return {
    seal: (plain) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', first.key, nonce);
      const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `v1.${first.id}.${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
    },
    isCurrent: (box) => box.startsWith(`v1.${first.id}.`),
    open: (box) => {
      const [version, id, data] = box.split('.');
      const key = keys.find((candidate) => candidate.id === id);
      if (version !== 'v1' || !key || !data)
        throw new Error(`no encryption key matches a box of version ${version} and key id ${id}`);
      const bytes = Buffer.from(data, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key.key, bytes.subarray(0, NONCE_BYTES), {
        // Rejects shortened tags, which an attacker could guess.
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    },
  };
};
