import { createHash, createPublicKey, verify } from 'node:crypto';

/** The head of the transparency log at some time: C2SP tlog-checkpoint. */
export interface Checkpoint {
  /** The name of the log. */
  readonly origin: string;
  readonly size: number;
  /** Base64. */
  readonly root: string;
}

/** A checkpoint or a key that cannot be used. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
}

/** Precedes the 32 bytes of an Ed25519 key (RFC 8410). */
const PUBLIC_KEY_INFO = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_HASH_BYTES = 4;
const ED25519 = 1;

/** Opens a signed checkpoint: C2SP signed-note. `key`: the public key, `<name>+<key hash>+<key>`. Throws CheckpointError
 *  if the key has not signed it. */
export const openCheckpoint = (note: string, key: string): Checkpoint => {
  if (!isSignedBy(note, key))
    throw new CheckpointError(`the checkpoint has no right signature of the key ${readKey(key).name}`);
  return readCheckpoint(note);
};

/** Whether the key has signed a note. Throws CheckpointError if the key is none. */
export const isSignedBy = (note: string, key: string): boolean => {
  const { name, hash, publicKey } = readKey(key);
  const end = note.lastIndexOf('\n\n');
  if (end < 0) return false;
  const text = note.slice(0, end + 1);
  return note
    .slice(end + 2)
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([dash, signer]) => dash === '—' && signer === name)
    .map(([, , signature = '']) => Buffer.from(signature, 'base64'))
    .filter((signature) => signature.subarray(0, KEY_HASH_BYTES).equals(hash))
    .some((signature) => verify(null, Buffer.from(text), publicKey, signature.subarray(KEY_HASH_BYTES)));
};

const readKey = (key: string) => {
  const [, name = '', hash = '', encoded = ''] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/u.exec(key) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  const expected = createHash('sha256')
    .update(`${name}\n`)
    .update(bytes)
    .digest('hex')
    .slice(0, 2 * KEY_HASH_BYTES);
  if (bytes.length !== 33 || bytes[0] !== ED25519 || hash !== expected)
    throw new CheckpointError('the key is not a public key of signed notes, as <name>+<key hash>+<key>');
  const publicKey = Buffer.concat([PUBLIC_KEY_INFO, bytes.subarray(1)]);
  return {
    name,
    hash: Buffer.from(hash, 'hex'),
    publicKey: createPublicKey({ key: publicKey, format: 'der', type: 'spki' }),
  };
};

/** Reads the text of a checkpoint, signed or not. */
export const readCheckpoint = (text: string): Checkpoint => {
  const [origin = '', size = '', root = ''] = text.split('\n');
  if (!/^(0|[1-9]\d{0,14})$/.test(size) || Buffer.from(root, 'base64').length !== 32)
    throw new CheckpointError('the checkpoint does not have the lines name, size and root');
  return { origin, size: Number(size), root };
};
