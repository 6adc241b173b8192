import type { Decider } from '@cpg/core';
import type { DomainEvent, Recorded } from './recorded.ts';

/** A recorded event that this version cannot read: its data do not match the schema, or `evolve` fails on it. A retry
 *  does not help; a fixed version does. */
export class UnreadableEventError extends Error {
  override readonly name = 'UnreadableEventError';
  readonly stream: string;
  readonly revision: number;

  constructor({ stream, revision, type }: { stream: string; revision: number; type: string }, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`event ${revision} (${type}) of stream ${stream} cannot be read: ${reason}`, { cause });
    this.stream = stream;
    this.revision = revision;
  }
}

/** The state after a recorded event. Throws UnreadableEventError when `evolve` fails. */
export const evolveRecorded = <State, E extends DomainEvent>(
  { evolve }: Pick<Decider<State, never, E>, 'evolve'>,
  state: State,
  { stream, revision, event }: Pick<Recorded<E>, 'stream' | 'revision' | 'event'>,
): State => {
  try {
    return evolve(state, event);
  } catch (error) {
    throw new UnreadableEventError({ stream, revision, type: event.type }, error);
  }
};
