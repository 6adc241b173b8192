import { type EventMetadata, HASH_VERSION } from '../store/recorded.ts';

/** Metadata of events whose cause and hash do not matter to a test. */
export const METADATA: EventMetadata = {
  actor: 'a',
  requestId: 'r',
  $correlationId: 'c',
  $causationId: 'r',
  previousHash: 'p',
  hash: 'h',
  hashVersion: HASH_VERSION,
  salt: 's',
};
