import { RewindError } from '@cpg/kafka';
import type { Pool } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';
import { flushIngests, type IngestNumber, isIngestLost } from '../storage/ingest-numbers.ts';
import type { Leases } from '../storage/leases.ts';
import type { LeaseChanges } from './lease-changes.ts';

/** Ingests of Kafka messages, which commit without waiting for the disk. Their messages are consumed again if a crash of
 *  PostgreSQL loses them. */
export interface UnflushedIngests {
  /** Runs one ingest; call it inside a lease change. Without a number, it has to wait for the disk. Throws RewindError
   *  when an earlier one was lost, and until `rewound`. */
  readonly run: <T>(ingest: (number?: IngestNumber) => Promise<T>) => Promise<T>;
  /** Resolves once all ingests before are on the disk. Throws RewindError when one was lost. */
  readonly flush: () => Promise<void>;
  /** The instance has a new id, under which nothing is counted yet. */
  readonly restart: () => void;
  /** The consumer goes on from its committed offsets. */
  readonly rewound: () => void;
  /** Flushes. Later ingests wait for the disk. */
  readonly end: () => Promise<void>;
}

export interface UnflushedIngestsOptions {
  readonly pool: Pool;
  readonly leases: Pick<Leases, 'holder' | 'replace'>;
  readonly changes: LeaseChanges;
  readonly log: Logger;
}

/** PostgreSQL counts the ingests too, in the row of the instance. Commits are lost from the last one backwards, so none
 *  is lost while both counts agree. */
export const createUnflushedIngests = ({ pool, leases, changes, log }: UnflushedIngestsOptions): UnflushedIngests => {
  let last = 0;
  /** An ingest failed, and it is unknown whether PostgreSQL committed it. */
  let isLastUncertain = false;
  let isFlushed = true;
  let mustRewind = false;
  let hasEnded = false;

  const next = (): IngestNumber => ({
    holder: leases.holder(),
    number: last + 1,
    accepted: isLastUncertain ? [last, last + 1] : [last],
  });
  const lose = async (cause: unknown): Promise<never> => {
    mustRewind = true;
    log.warn({ holder: leases.holder() }, 'PostgreSQL lost ingested messages, consuming them again');
    await leases
      .replace()
      .catch((error: unknown) => log.warn({ err: error }, 'could not register under a new id, will retry'));
    throw new RewindError('ingests were lost', { cause });
  };
  const flushNow = async (): Promise<void> => {
    if (mustRewind) throw new RewindError('ingests may be lost');
    if (isFlushed) return;
    if (!(await flushIngests(pool, next()))) await lose(undefined);
    isFlushed = true;
  };
  return {
    run: async (ingest) => {
      if (mustRewind) throw new RewindError('ingests may be lost');
      if (hasEnded) return ingest();
      const number = next();
      isFlushed = false;
      try {
        const result = await ingest(number);
        if (leases.holder() === number.holder) {
          last = number.number;
          isLastUncertain = false;
        }
        return result;
      } catch (error) {
        if (isIngestLost(error)) return lose(error);
        isLastUncertain = true;
        throw error;
      }
    },
    flush: () => changes.exclusively(flushNow),
    restart: () => {
      last = 0;
      isLastUncertain = false;
      mustRewind = true;
    },
    rewound: () => {
      mustRewind = false;
      isFlushed = true;
    },
    end: () =>
      changes.exclusively(async () => {
        hasEnded = true;
        await flushNow();
      }),
  };
};
