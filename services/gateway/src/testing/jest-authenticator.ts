import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** What a test makes the authenticator say instead of the truth. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly userVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly challenge?: string;
  readonly certificates?: boolean;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const BACKUP_ELIGIBLE = 0x08;
const BACKED_UP = 0x10;
const ATTESTED = 0x40;

const sha256 = (data: Buffer | string): Buffer => createHash('sha256').update(data).digest();
const base64url = (data: Buffer | string): string => Buffer.from(data).toString('base64url');

/** A CBOR value (RFC 8949): just what WebAuthn needs. */
const cbor = (value: number | string | Buffer | readonly unknown[] | ReadonlyMap<unknown, unknown>): Buffer => {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flat().map((each) => cbor(each as string))]);
  const items = value as readonly string[];
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
};

const head = (major: number, length: number): Buffer => {
  const top = major << 5;
  if (length < 24) return Buffer.from([top | length]);
  return length < 256 ? Buffer.from([top | 24, length]) : Buffer.from([top | 25, length >> 8, length & 255]);
};

const counterBytes = (counter: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(counter);
  return bytes;
};

/** A software authenticator (WebAuthn Level 3) with one discoverable ES256 key, and the browser around it. */
export const createAuthenticator = (origin: string) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  const state = { counter: 0, userHandle: '' };

  const clientData = (type: string, challenge: string, lies: Lies): Buffer =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authenticatorData = (rpId: string, flags: number, lies: Lies, rest = Buffer.alloc(0)): Buffer => {
    state.counter += 1;
    const verified = lies.userVerified === false ? 0 : USER_VERIFIED;
    return Buffer.concat([
      sha256(lies.rpId ?? rpId),
      Buffer.from([flags | USER_PRESENT | BACKUP_ELIGIBLE | BACKED_UP | verified]),
      counterBytes(lies.counter ?? state.counter),
      rest,
    ]);
  };
  const credential = { id: base64url(id), rawId: base64url(id), type: 'public-key', clientExtensionResults: {} };

  return {
    credentialId: credential.id,
    /** Answers creation options. */
    create: (options: { challenge: string; rp: { id: string }; user: { id: string } }, lies: Lies = {}) => {
      state.userHandle = options.user.id;
      const key = new Map<number, number | Buffer>([
        ...([
          [1, 2],
          [3, -7],
          [-1, 1],
        ] as const),
        [-2, Buffer.from(x!, 'base64url')],
        [-3, Buffer.from(y!, 'base64url')],
      ]);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cbor(key)]);
      const authData = authenticatorData(options.rp.id, ATTESTED, lies, attested);
      const statement = lies.certificates ? new Map([['x5c', [Buffer.from('certificate')]]]) : new Map();
      const attestation = new Map<string, unknown>([
        ['fmt', lies.certificates ? 'packed' : 'none'],
        ['attStmt', statement],
        ['authData', authData],
      ]);
      return {
        ...credential,
        authenticatorAttachment: 'platform',
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', options.challenge, lies)),
          attestationObject: base64url(cbor(attestation)),
          transports: ['internal'],
          publicKeyAlgorithm: -7,
        },
      };
    },
    /** Answers request options. */
    get: (options: { challenge: string; rpId: string }, lies: Lies = {}) => {
      const data = clientData('webauthn.get', options.challenge, lies);
      const authData = authenticatorData(options.rpId, 0, lies);
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey);
      return {
        ...credential,
        authenticatorAttachment: 'platform',
        response: {
          clientDataJSON: base64url(data),
          authenticatorData: base64url(authData),
          signature: base64url(signature),
          userHandle: lies.userHandle === undefined ? state.userHandle : base64url(lies.userHandle),
        },
      };
    },
  };
};

export type TestAuthenticator = ReturnType<typeof createAuthenticator>;
