import type { Expectation } from './events.ts';

/** About a persistent subscription; `kind` is its name in the protocol. `stream` may be `$all`. */
export interface GroupRefusal {
  readonly kind:
    | 'persistent-subscription-exists'
    | 'persistent-subscription-does-not-exist'
    | 'persistent-subscription-failed'
    | 'persistent-subscription-dropped'
    | 'maximum-subscribers-reached';
  readonly stream: string;
  readonly group: string;
  readonly reason?: string;
}

/** Why a command or a read was not carried out. `protocol/errors.ts` has the wire form of each. */
export type Refusal =
  | {
      readonly kind: 'wrong-revision';
      readonly stream: string;
      readonly expected: Expectation;
      readonly actual: bigint;
    }
  | { readonly kind: 'stream-deleted'; readonly stream: string }
  | GroupRefusal
  | { readonly kind: 'append-too-large'; readonly limit: number }
  | { readonly kind: 'metadata-missing'; readonly property: string }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'deadline-exceeded' }
  | { readonly kind: 'unavailable'; readonly reason: string };

export class RefusedError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, options?: ErrorOptions) {
    super('reason' in refusal ? refusal.reason : refusal.kind, options);
    this.refusal = refusal;
  }
}

export const invalid = (reason: string): RefusedError => new RefusedError({ kind: 'invalid', reason });
export const unavailable = (reason: string, cause?: unknown): RefusedError =>
  new RefusedError({ kind: 'unavailable', reason }, { cause });
