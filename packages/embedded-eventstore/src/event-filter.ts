import type { RecordedEvent } from './events.ts';

/** Whether a reader of the log gets the event. */
export type EventFilter = (event: RecordedEvent) => boolean;

/** Matches events whose type or stream name matches `regex`, or, if `regex` is empty, starts with one of `prefixes`.
 *  Throws SyntaxError for an invalid regular expression. */
export const createEventFilter = (on: 'type' | 'stream', prefixes: readonly string[], regex: string): EventFilter => {
  if (regex === '') return (event) => prefixes.some((prefix) => event[on].startsWith(prefix));
  const pattern = new RegExp(regex);
  return (event) => pattern.test(event[on]);
};
