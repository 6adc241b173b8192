import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { FatalStartError } from './config.ts';

/** Encrypts secrets for storage. A box is `v2.<key id>.<base64url of nonce, tag and ciphertext>`. `row` names the row
 *  that holds it, so that a box in another row cannot be opened. Boxes of `v1` name no row. */
export interface SecretBox {
  readonly seal: (plain: string, row: string) => string;
  /** Whether the first key encrypted the box, for its row. */
  readonly isCurrent: (box: string) => boolean;
  /** Throws when no configured key matches, or when the box was changed or belongs to another row. */
  readonly open: (box: string, row: string) => string;
  /** Throws FatalStartError when one of the boxes was encrypted with a key that is not configured. */
  readonly requireKeysOf: (boxes: readonly string[]) => void;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The row of a webhook, for its secrets. */
export const webhookRow = (id: string): string => `gateway.webhooks ${id}`;

/** AES-256-GCM (NIST SP 800-38D) with keys derived from `secrets` by SHA-256. The row is associated data. The first key
 *  encrypts, and all keys decrypt. To rotate, put a new secret in front. Throws RangeError without secrets. */
export const secretBox = (secrets: readonly string[]): SecretBox => {
  const keys = secrets.map((secret) => {
    const key = createHash('sha256').update('secret-box').update(secret).digest();
    return { key, id: createHash('sha256').update(key).digest('hex').slice(0, 8) };
  });
  const first = keys[0];
  if (!first) throw new RangeError('at least one encryption key is required');
  return {
    seal: (plain, row) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', first.key, nonce).setAAD(Buffer.from(row));
      const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `v2.${first.id}.${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
    },
    isCurrent: (box) => box.startsWith(`v2.${first.id}.`),
    open: (box, row) => {
      const [version, id, data] = box.split('.');
      const key = keys.find((candidate) => candidate.id === id);
      if ((version !== 'v1' && version !== 'v2') || !key || !data)
        throw new Error(`no encryption key matches a box of version ${version} and key id ${id}`);
      const bytes = Buffer.from(data, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key.key, bytes.subarray(0, NONCE_BYTES), {
        // Rejects shortened tags, which an attacker could guess.
        authTagLength: TAG_BYTES,
      });
      if (version === 'v2') decipher.setAAD(Buffer.from(row));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const plain = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([plain, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new Error(`the secret in ${row} was changed, or belongs to another row`, { cause });
      }
    },
    requireKeysOf: (boxes) => {
      const ids = new Set(boxes.map((box) => box.split('.')[1]));
      const missing = [...ids].filter((id) => !keys.some((key) => key.id === id));
      if (missing.length === 0) return;
      throw new FatalStartError(
        `WEBHOOK_ENCRYPTION_KEY lacks a key that encrypted secrets of webhooks (key id ${missing.join(', ')}; the variable has ${keys.map((key) => key.id).join(', ')}): add it to the list, or no webhook can be signed`,
      );
    },
  };
};
