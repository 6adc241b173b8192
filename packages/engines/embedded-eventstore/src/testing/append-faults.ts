import { RefusedError } from '../refusals.ts';
import type { Store } from '../store.ts';

/** How an append fails in a test, as the appends of a cluster fail while it elects a leader:
 *  `unanswered`: it is written and never answered; `commit-timeout`: it is written and answered as timed out;
 *  `not-ready`: it is refused with "Server Is Not Ready" and not written. */
export type AppendFault = (typeof APPEND_FAULTS)[number];

export const APPEND_FAULTS = ['unanswered', 'commit-timeout', 'not-ready'] as const;

/** Called before each append with the name of its stream. Null lets the append succeed. */
export type FaultOf = (stream: string) => AppendFault | null;

/** Makes the appends of a writer fail as `faultOf` says: the option `wrapWriter` of `startEventStore`. */
export const withFaults =
  (faultOf: FaultOf) =>
  (writer: Store['writer']): Store['writer'] => ({
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

/** Which appends fail, counted over all streams whose names end with one id: the first `skip` succeed, the next `times`
 *  fail, and later ones succeed. */
export interface FaultPlan {
  readonly fault: AppendFault;
  readonly skip: number;
  readonly times: number;
}

/** Faults that a test plans by the id of an order or payment. The streams of an id are those whose names end with
 *  it. */
export const plannedFaults = () => {
  const plans = new Map<string, { plan: FaultPlan; appends: number }>();
  const planned = (stream: string) => [...plans].find(([id]) => stream.endsWith(id))?.[1];
  const faultOf: FaultOf = (stream) => {
    const found = planned(stream);
    if (!found) return null;
    found.appends += 1;
    const { fault, skip, times } = found.plan;
    return found.appends > skip && found.appends <= skip + times ? fault : null;
  };
  return {
    faultOf,
    plan: (id: string, plan: FaultPlan): void => void plans.set(id, { plan, appends: 0 }),
    /** Whether every planned fault of this id has occurred. */
    isOver: (id: string): boolean => {
      const { plan, appends } = plans.get(id)!;
      return appends >= plan.skip + plan.times;
    },
  };
};

/** A command whose appends fail: `times` of them, after `skip` that succeed. */
export interface FaultCase {
  readonly title: string;
  readonly name: string;
  readonly skip: number;
  readonly times: number;
}

/** The cases of a command with this number of appends: each of them fails once, and as often as `attempts`. */
export const faultCases = (name: string, appends: number, attempts: number): FaultCase[] =>
  Array.from({ length: appends }, (_, skip) =>
    [1, attempts].map((times) => {
      const failing = times === 1 ? 'an append fails' : `${times} appends fail`;
      return { title: `${name}: ${failing}${skip > 0 ? ` after ${skip}` : ''}`, name, skip, times };
    }),
  ).flat();
