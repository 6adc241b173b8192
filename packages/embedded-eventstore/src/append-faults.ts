import { RefusedError } from './refusals.ts';
import type { Store } from './store.ts';

/** How an append fails in a test, as the appends of a cluster fail while it elects a leader:
 *  `unanswered`: it is written and never answered; `commit-timeout`: it is written and answered as timed out;
 *  `not-ready`: it is refused with "Server Is Not Ready" and not written. */
export type AppendFault = (typeof APPEND_FAULTS)[number];

export const APPEND_FAULTS = ['unanswered', 'commit-timeout', 'not-ready'] as const;

/** Asked before each append; null lets it succeed. */
export type FaultOf = (stream: string) => AppendFault | null;

/** A writer whose appends fail as `faultOf` says. */
export const withFaults = (writer: Store['writer'], faultOf: FaultOf): Store['writer'] => ({
  execute: async (command, signal) => {
    const fault = command.kind === 'append' ? faultOf(command.stream) : null;
    if (fault === 'not-ready') throw new RefusedError({ kind: 'not-ready' });
    const result = await writer.execute(command, signal);
    if (fault === 'commit-timeout') throw new RefusedError({ kind: 'commit-timeout' });
    if (fault === 'unanswered') throw new RefusedError({ kind: 'unanswered' });
    return result;
  },
});

/** Reads `commit-timeout/10,not-ready/25`: every 10th append times out, every 25th is refused.
 *  Throws for anything else; the message says what is expected. */
export const parseFaults = (text: string): FaultOf => {
  const rules = text.split(',').map((rule) => {
    const [, name, every] = /^([a-z-]+)\/([1-9]\d*)$/.exec(rule.trim()) ?? [];
    const fault = APPEND_FAULTS.find((known) => known === name);
    if (!fault)
      throw new Error(
        `must be a list of faults such as commit-timeout/10 (${APPEND_FAULTS.join(', ')}), not "${rule}"`,
      );
    return { fault, every: Number(every) };
  });
  let appends = 0;
  return () => {
    appends++;
    return rules.find(({ every }) => appends % every === 0)?.fault ?? null;
  };
};
