import { type CallContext, newId } from '@cpg/platform';
import { type DomainEvent, eventHash, type Idempotency, type Recorded } from './recorded.ts';

/** Adds ids, revisions and metadata, with each event's hash chained to the one before it. `idempotency` goes to the
 *  first event. */
export const chainEvents = <E extends DomainEvent>(
  events: readonly E[],
  stream: string,
  { revision, hash }: { readonly revision: number; readonly hash: string },
  { actor, requestId, correlationId }: CallContext,
  { causationId, idempotency }: { readonly causationId: string; readonly idempotency?: Idempotency | undefined },
): Recorded<E>[] => {
  let previousHash = hash;
  return events.map((event, index) => {
    const metadata = {
      actor,
      requestId,
      $correlationId: correlationId,
      $causationId: causationId,
      previousHash,
      hash: eventHash(previousHash, event),
      ...(idempotency && index === 0 && { idempotency }),
    };
    previousHash = metadata.hash;
    return { stream, revision: revision + 1 + index, id: newId('event'), event, metadata };
  });
};
