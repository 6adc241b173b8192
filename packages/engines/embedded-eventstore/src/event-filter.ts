import { RE2JS } from 're2js';
import type { RecordedEvent } from './events.ts';
import { invalid } from './refusals.ts';

/** Whether a reader of the log gets the event. */
export type EventFilter = (event: RecordedEvent) => boolean;

// Together with the length of a name they bound the time of one match.
const MAX_EXPRESSION_CHARACTERS = 4_000;
const MAX_PROGRAM_INSTRUCTIONS = 2_000;

/** Matches events whose type or stream name matches `regex`, or, if `regex` is empty, starts with one of `prefixes`.
 *  Expressions have the syntax of RE2, whose time is linear in the text.
 *  Throws `invalid` for an expression that is no valid one, or too large. */
export const createEventFilter = (on: 'type' | 'stream', prefixes: readonly string[], regex: string): EventFilter => {
  if (regex === '') return (event) => prefixes.some((prefix) => event[on].startsWith(prefix));
  const pattern = compile(regex);
  return (event) => pattern.test(event[on]);
};

const compile = (regex: string): RE2JS => {
  if (regex.length > MAX_EXPRESSION_CHARACTERS) throw invalid('the regular expression of the filter is too large');
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(regex);
  } catch (error) {
    throw invalid(`the filter is not a regular expression of RE2: ${(error as Error).message}`);
  }
  if (pattern.programSize() > MAX_PROGRAM_INSTRUCTIONS) {
    throw invalid('the regular expression of the filter is too large');
  }
  return pattern;
};
