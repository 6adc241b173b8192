import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { isTransientDatabaseError } from './errors.ts';

export interface VersionedRow {
  readonly id: string;
  /** A later revision replaces an earlier one. */
  readonly revision: number;
}

/** How long rows gather for the next statement when some came during the last one: under load, fewer statements cost
 *  less. A row that comes alone is written at once. */
const GATHER_MS = 8;
/** Commits that a writer remembers. */
const MAX_COMMITTED = 10_000;
/** Bounds the memory and the duration of one statement. */
const MAX_ROWS = 256;

interface Waiting<Row> {
  row: Row;
  readonly callers: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[];
}

/** Writes the rows of concurrent callers together: while a statement runs, the next rows gather. A caller resolves once
 *  its row, or a later revision of it, is committed. `write` gets each id once. When it refuses a batch, each row
 *  is written alone, so that one bad row fails alone. A row that it has committed lately is not written again. */
export const batchWriter = <Row extends VersionedRow>(
  write: (rows: readonly Row[]) => Promise<void>,
  { gatherMs = GATHER_MS }: { readonly gatherMs?: number } = {},
): ((row: Row) => Promise<void>) => {
  const gathered = new Map<string, Waiting<Row>>();
  const committed = new LRUCache<string, number>({ max: MAX_COMMITTED });
  let isRunning = false;
  const writeAndRemember = async (rows: readonly Row[]) => {
    try {
      await write(rows);
    } catch (error) {
      // A crash of the database may have lost the last commits.
      if (isTransientDatabaseError(error)) committed.clear();
      throw error;
    }
    for (const { id, revision } of rows) committed.set(id, revision);
  };

  const writeGathered = async () => {
    isRunning = true;
    while (gathered.size > 0) {
      const batch = [...gathered.values()].slice(0, MAX_ROWS);
      for (const { row } of batch) gathered.delete(row.id);
      await writeBatch(writeAndRemember, batch);
      if (gathered.size > 0 && gathered.size < MAX_ROWS) await sleep(gatherMs);
    }
    isRunning = false;
  };

  return (row) =>
    new Promise((resolve, reject) => {
      if ((committed.get(row.id) ?? -1) >= row.revision) return resolve();
      const waiting = gathered.get(row.id) ?? { row, callers: [] };
      if (waiting.row.revision < row.revision) waiting.row = row;
      waiting.callers.push({ resolve, reject });
      gathered.set(row.id, waiting);
      if (!isRunning) void writeGathered();
    });
};

/** Never rejects: each caller gets its own error. */
const writeBatch = async <Row extends VersionedRow>(
  write: (rows: readonly Row[]) => Promise<void>,
  batch: readonly Waiting<Row>[],
): Promise<void> => {
  try {
    await write(batch.map(({ row }) => row));
    for (const { callers } of batch) for (const { resolve } of callers) resolve();
  } catch (error) {
    // During an outage each row alone would wait for the same timeout.
    if (batch.length > 1 && !isTransientDatabaseError(error)) {
      for (const waiting of batch) await writeBatch(write, [waiting]);
      return;
    }
    for (const { callers } of batch) for (const { reject } of callers) reject(error);
  }
};
