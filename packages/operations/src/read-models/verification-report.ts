import type { ChainVerification } from '@cpg/event-sourcing';
import { type Difference, MAX_DIFFERENCES } from './difference.ts';
import type { Verification } from './verify.ts';

/** The lines that `audit verify` prints for the hash chains of streams. */
export const chainReport = (prefixes: readonly string[], { events, faults, shown }: ChainVerification): string[] => {
  const streams = `streams ${prefixes.map((prefix) => `${prefix}*`).join(', ')}`;
  if (faults === 0) return [`${streams}: ${events} events, all hash chains are intact`];
  const more = faults > shown.length ? [`and ${faults - shown.length} more`] : [];
  return [
    ...shown.map(({ stream, revision, fault }) => `${stream}, event ${revision}: ${fault}`),
    ...more,
    `${streams}: ${faults} of ${events} events fail verification`,
  ];
};

/** The lines that `projections verify` prints for the tables of a projection. */
export const rowReport = (tables: readonly string[], { rows, differ, differences }: Verification): string[] => {
  const named = tables.join(', ');
  if (differ === 0) return [`${named}: ${rows} rows, all match the event store`];
  const more = differ > MAX_DIFFERENCES ? [`and ${differ - MAX_DIFFERENCES} more`] : [];
  return [
    ...differences.flatMap(describeDifference),
    ...more,
    `${named}: ${differ} of ${rows} rows differ: run "projections rebuild" to correct them`,
  ];
};

const describeDifference = ({ table, id, live, replayed }: Difference): string[] => {
  if (!live) return [`${id}: the row is missing in ${table}`];
  if (!replayed) return [`${id}: the event store has nothing that results in this row of ${table}`];
  const columns = Object.keys(replayed).filter((column) => jsonOf(live[column]) !== jsonOf(replayed[column]));
  return columns.map(
    (column) =>
      `${id}: ${column} is ${jsonOf(live[column])}, expected ${jsonOf(replayed[column])} from the event store`,
  );
};

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'absent';
