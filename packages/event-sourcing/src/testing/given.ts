import { deepStrictEqual, fail } from 'node:assert';
import { type Decider, fold } from '../decider.ts';
import { AppError, type ErrorCode } from '@cpg/contracts';

/** A test of a decider: given past events, when a command is decided, then these events or this refusal follow. */
export const givenFor =
  <State, Command, Event>(decider: Decider<State, Command, Event>) =>
  (...past: Event[]) => ({
    when: (command: Command) => {
      const state = fold(decider, decider.initial, past);
      const decide = () => decider.decide(command, state);
      return {
        then: (...expected: Event[]) => deepStrictEqual(decide(), expected),
        /** Compares only the named parts of each event. Lists must have as many entries as named. */
        thenLike: (...expected: unknown[]) => {
          deepStrictEqual(pick(decide(), expected), expected);
        },
        thenNothing: () => deepStrictEqual(decide(), []),
        thenState: (check: (state: State) => void) => check(fold(decider, state, decide())),
        thenRefused: (code: ErrorCode) => {
          try {
            decide();
          } catch (error) {
            if (error instanceof AppError && error.code === code) return;
            throw error;
          }
          fail(`not refused with ${code}`);
        },
      };
    },
  });

const pick = (actual: unknown, like: unknown): unknown => {
  if (Array.isArray(like) && Array.isArray(actual)) {
    return actual.map((part, index) => (index < like.length ? pick(part, like[index]) : part));
  }
  if (like !== null && typeof like === 'object' && actual !== null && typeof actual === 'object') {
    const source = actual as Record<string, unknown>;
    return Object.fromEntries(Object.entries(like).map(([key, part]) => [key, pick(source[key], part)]));
  }
  return actual;
};
