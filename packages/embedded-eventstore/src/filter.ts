import type { RecordedEvent } from './events.ts';

/** Which events of the log a reader wants. */
export type EventFilter = (event: RecordedEvent) => boolean;

/** Keeps events whose type or stream starts with one of `prefixes`, or matches `regex` where that is given. */
export const eventFilter = (on: 'type' | 'stream', prefixes: readonly string[], regex: string): EventFilter => {
  if (regex === '') return (event) => prefixes.some((prefix) => event[on].startsWith(prefix));
  const pattern = new RegExp(regex);
  return (event) => pattern.test(event[on]);
};
