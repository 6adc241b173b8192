// Plain JavaScript, because a thread loads it as it is, also in tests.
import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';

export const HASH_BYTES = 32;

const firstHash = Buffer.alloc(HASH_BYTES);

/**
 * Writes the double SHA-256 of a message. `hash` is several times faster with binary strings than
 * with Buffers.
 * @type {(message: Uint8Array, target: Buffer, offset: number) => void}
 */
export const writeDoubleSha256 = (message, target, offset) => {
  firstHash.write(hash('sha256', message, 'binary'), 0, 'binary');
  target.write(hash('sha256', firstHash, 'binary'), offset, 'binary');
};
