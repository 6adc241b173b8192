import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Encrypts secrets at rest. Boxes are `v1.<key id>.<base64url of nonce, tag, ciphertext>`. */
export interface SecretBox {
  readonly seal: (plain: string) => string;
  /** Throws when the key is not on the ring, or the box was tampered with. */
  readonly open: (box: string) => string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM (NIST SP 800-38D) with keys derived from `secrets` by SHA-256: the first one seals, any of them opens, so a key is
 *  rotated by putting a new one in front. */
export const secretBox = (secrets: readonly string[]): SecretBox => {
  const keys = secrets.map((secret) => {
    const key = createHash('sha256').update('secret-box').update(secret).digest();
    return { key, id: createHash('sha256').update(key).digest('hex').slice(0, 8) };
  });
  const first = keys[0];
  if (!first) throw new RangeError('at least one encryption key is needed');
  return {
    seal: (plain) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', first.key, nonce);
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `v1.${first.id}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
    },
    open: (box) => {
      const [version, id, data] = box.split('.');
      const found = keys.find((entry) => entry.id === id);
      if (version !== 'v1' || !found || !data) throw new Error(`no key on the ring opens a box of ${version} ${id}`);
      const bytes = Buffer.from(data, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', found.key, bytes.subarray(0, NONCE_BYTES), {
        // Without it a tag that was cut short would do, and short ones can be guessed.
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    },
  };
};
