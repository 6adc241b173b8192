import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto';

// Signed notes with Ed25519, by C2SP: https://c2sp.org/signed-note. Keys are texts in the form of Go's
// golang.org/x/mod/sumdb/note: `PRIVATE+KEY+<name>+<key hash>+<key>`, and without the first two for the public one.

const ALGORITHM = Uint8Array.of(1);
const SEED_BYTES = 32;
const PUBLIC_BYTES = 32;
const NAME = /^[^\s+]+$/u;

/** Signs notes. `name`: of the key, as in its signatures. */
export interface NoteSigner {
  readonly name: string;
  /** The public key, as a text for whoever verifies. */
  readonly verifierKey: string;
  /** Adds a signature. `text` ends with a line feed and has no empty line. */
  readonly sign: (text: string) => string;
}

/** A new private key, as a text. `name`: without spaces and plus signs, for example the host name of the gateway. */
export const newSigningKey = (name: string): string => {
  if (!NAME.test(name)) throw new RangeError('the name of a key is not empty and has no space and no plus sign');
  const seed = randomBytes(SEED_BYTES);
  return `PRIVATE+KEY+${name}+${keyHash(name, publicOf(seedKey(seed)))}+${keyText(seed)}`;
};

/** Throws RangeError if the text is not a private key of a note. */
export const noteSigner = (key: string): NoteSigner => {
  const match = /^PRIVATE\+KEY\+([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(key);
  const bytes = match && keyBytes(match[3]!, SEED_BYTES);
  if (!bytes) throw new RangeError('is not a key for signed notes, as PRIVATE+KEY+<name>+<key hash>+<key>');
  const name = match[1]!;
  const privateKey = seedKey(bytes);
  const publicKey = publicOf(privateKey);
  const hash = keyHash(name, publicKey);
  if (hash !== match[2]) throw new RangeError(`has the key hash ${match[2]}, but it is ${hash} for this name and key`);
  return {
    name,
    verifierKey: `${name}+${hash}+${keyText(publicKey)}`,
    sign: (text) => {
      const signature = Buffer.concat([Buffer.from(hash, 'hex'), sign(null, Buffer.from(text), privateKey)]);
      return `${text}\n— ${name} ${signature.toString('base64')}\n`;
    },
  };
};

const keyText = (key: Uint8Array): string => Buffer.concat([ALGORITHM, key]).toString('base64');

const keyBytes = (text: string, length: number): Buffer | null => {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length + 1 && bytes[0] === ALGORITHM[0] ? bytes.subarray(1) : null;
};

const keyHash = (name: string, publicKey: Uint8Array): string =>
  createHash('sha256').update(`${name}\n`).update(ALGORITHM).update(publicKey).digest('hex').slice(0, 8);

// RFC 8410: what precedes the 32 bytes of an Ed25519 key in PKCS #8 and SubjectPublicKeyInfo.
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

const seedKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });

const publicOf = (privateKey: KeyObject): Buffer =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(SPKI.length);

/** The text of a note that the key has signed; null if it has no right signature of that key. Throws RangeError if the
 *  key is not a public key of a note. */
export const openNote = (note: string, verifierKey: string): string | null => {
  const match = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/u.exec(verifierKey);
  const bytes = match && keyBytes(match[3]!, PUBLIC_BYTES);
  if (!bytes || keyHash(match[1]!, bytes) !== match[2])
    throw new RangeError('is not a public key of signed notes, as <name>+<key hash>+<key>');
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' });
  const end = note.lastIndexOf('\n\n');
  if (end < 0) return null;
  const text = note.slice(0, end + 1);
  const isSigned = note
    .slice(end + 2)
    .split('\n')
    .some((line) => {
      const [dash, name, encoded = ''] = line.split(' ');
      const signature = Buffer.from(encoded, 'base64');
      const isOwn = dash === '—' && name === match[1] && signature.subarray(0, 4).toString('hex') === match[2];
      return isOwn && verify(null, Buffer.from(text), publicKey, signature.subarray(4));
    });
  return isSigned ? text : null;
};
