import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { wallClock } from '@cpg/platform';
import { type LogPosition, checkPosition, verifyHashChains } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { z } from 'zod';
import { ProjectionError } from '../read-models/shadow-tables.ts';
import { hashChainReport } from '../read-models/verify.ts';

/** A further check. With `since`, it checks only what was recorded after that position. */
export type VerifyMore = (options: {
  readonly client: EventStoreDBClient;
  readonly since: LogPosition | null;
  readonly signal: AbortSignal;
}) => Promise<{ readonly lines: readonly string[]; readonly faults: number }>;

export interface AuditVerifyOptions {
  readonly client: EventStoreDBClient;
  /** Names the entry of the service in the checkpoint file. */
  readonly service: string;
  readonly prefixes: readonly string[];
  /** Where the last run without a fault ended. */
  readonly file?: string | undefined;
  readonly signal: AbortSignal;
  readonly verifyMore?: VerifyMore | undefined;
  /** Compares all rows of the service. Resolves to how many differ. */
  readonly verifyRows: () => Promise<number>;
  readonly print: (line: string) => void;
}

/** Verifies the streams and rows of a service, or with a file its streams that changed since the last run
 *  without a fault, which the file tells. Resolves to the exit code. */
export const runAuditVerify = async (options: AuditVerifyOptions): Promise<number> => {
  const { client, service, prefixes, file, signal, verifyMore, verifyRows, print } = options;
  const checkpoint = file === undefined ? null : (readCheckpoints(file)[service] ?? null);
  const since = checkpoint?.position ?? null;
  if (since) {
    const { status } = await checkPosition(client, since);
    if (status === 'missing' || status === 'beyond-end')
      throw new ProjectionError(
        `the event store does not have the event at which ${file} ends: it is another event store, or an older one. ` +
          'Find out why, then verify all of it with a new file',
      );
  }
  if (checkpoint) print(`${service}: streams that changed since ${checkpoint.verified_at}`);
  const verifiedAt = wallClock().toISOString();
  const chains = await verifyHashChains(client, { prefixes, since, signal });
  hashChainReport(prefixes, chains).forEach(print);
  const more = await verifyMore?.({ client, since, signal });
  more?.lines.forEach(print);
  let faults = chains.faults + (more?.faults ?? 0);
  if (since) print(`${service}: rows are not compared: "projections verify" compares them`);
  else faults += await verifyRows();
  if (faults > 0) return 1;
  if (file !== undefined && chains.position) {
    writeCheckpoint(file, service, { position: chains.position, verified_at: verifiedAt });
    print(`${service}: ${file} says up to where all is well`);
  }
  return 0;
};

const Position = z.string().regex(/^\d+$/);

/** Up to where each service was verified, and when that began. */
const Checkpoints = z.record(
  z.string(),
  z.object({
    position: z.object({
      commit: Position,
      prepare: Position,
      event: z.object({ id: z.string(), stream: z.string() }),
    }),
    verified_at: z.string(),
  }),
);

/** Empty if there is no such file. */
const readCheckpoints = (file: string): z.infer<typeof Checkpoints> => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new ProjectionError(`cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return Checkpoints.parse(JSON.parse(text));
  } catch (cause) {
    throw new ProjectionError(`${file} is not a file that "audit verify --since" wrote: name another one`, { cause });
  }
};

/** Replaces the file at once: after a crash it is the earlier or the new one. */
const writeCheckpoint = (
  file: string,
  service: string,
  checkpoint: { position: LogPosition; verified_at: string },
): void => {
  const text = `${JSON.stringify({ ...readCheckpoints(file), [service]: checkpoint }, null, 2)}\n`;
  try {
    writeFileSync(`${file}.new`, text, { flush: true });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new ProjectionError(`cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
};
