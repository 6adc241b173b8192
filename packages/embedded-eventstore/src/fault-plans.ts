import type { AppendFault, FaultOf } from './append-faults.ts';

/** Which appends to the streams of one id fail: `times` appends, after `skip` that succeed. */
export interface FaultPlan {
  readonly fault: AppendFault;
  readonly skip: number;
  readonly times: number;
}

/** Faults that a test plans by id. The streams of an id are those whose names end with it. */
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
