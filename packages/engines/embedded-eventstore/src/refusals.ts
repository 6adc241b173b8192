import type { ExpectedRevision } from './events.ts';

/** Why a command or a read is refused. `protocol/call-handlers.ts` has the wire form of each kind. */
export type Refusal =
  | {
      readonly kind: 'wrong-revision';
      readonly stream: string;
      readonly expected: ExpectedRevision;
      readonly actual: bigint;
    }
  | { readonly kind: 'stream-deleted'; readonly stream: string }
  | { readonly kind: 'append-too-large'; readonly limit: number }
  | { readonly kind: 'metadata-missing'; readonly property: string }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'deadline-exceeded' }
  | { readonly kind: 'commit-timeout' }
  | { readonly kind: 'not-ready' }
  | { readonly kind: 'unexpected-read' }
  /** Only in tests: no answer is sent. */
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'unsupported'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super('reason' in refusal ? refusal.reason : refusal.kind, options);
    this.refusal = refusal;
  }
}

export const invalid = (reason: string): RefusedError => new RefusedError({ kind: 'invalid', reason });
export const unsupported = (reason: string): RefusedError => new RefusedError({ kind: 'unsupported', reason });
export const unavailable = (reason: string, cause?: unknown): RefusedError =>
  new RefusedError({ kind: 'unavailable', reason }, { cause });
export const streamDeleted = (stream: string): RefusedError => new RefusedError({ kind: 'stream-deleted', stream });
export const wrongRevision = (stream: string, expected: ExpectedRevision, actual: bigint): RefusedError =>
  new RefusedError({ kind: 'wrong-revision', stream, expected, actual });
