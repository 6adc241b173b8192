import type { ExpectedRevision, ProposedEvent } from '../events.ts';

/** A change of one stream. */
export type Command =
  | {
      readonly kind: 'append';
      readonly stream: string;
      readonly expected: ExpectedRevision;
      readonly events: readonly ProposedEvent[];
    }
  | { readonly kind: 'delete' | 'tombstone'; readonly stream: string; readonly expected: ExpectedRevision };

export interface WriteResult {
  /** The last revision written, NO_REVISION for none. */
  readonly revision: bigint;
  /** Position of that event in the log, null for none. */
  readonly position: bigint | null;
}
