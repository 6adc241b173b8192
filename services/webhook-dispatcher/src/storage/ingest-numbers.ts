import type { Queryable } from '@cpg/postgres';

/** The number of an ingest that commits without waiting for the disk. */
export interface IngestNumber {
  /** The instance that ingests. */
  readonly holder: string;
  readonly number: number;
  /** The numbers that its last ingest may have. */
  readonly accepted: readonly number[];
}

const LOST_INGEST = 'WD001';

/** Whether an ingest was refused because PostgreSQL does not have an earlier one of its instance. */
export const isIngestLost = (error: unknown): boolean => (error as { code?: string } | null)?.code === LOST_INGEST;

/** Resolves to whether PostgreSQL has all ingests of an instance. They are on the disk then: the commit of this
 *  statement flushes those before it. */
export const flushIngests = async (db: Queryable, { holder, accepted }: IngestNumber): Promise<boolean> => {
  const { rowCount } = await db.query(
    'update webhooks.instances set ingests = ingests where id = $1 and ingests = any($2::bigint[])',
    [holder, accepted],
  );
  return rowCount === 1;
};
