import type { Decider } from '../decider.ts';
import type { DomainEvent, Recorded } from '../store/recorded.ts';
import { UnreadableEventError } from '../store/unreadable.ts';

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
