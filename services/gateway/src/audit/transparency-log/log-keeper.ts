import type { Logger, Outages } from '@cpg/platform';
import type { NoteSigner } from '@cpg/transparency-log';
import { type MeasuredWork, startLeaderRounds } from '../leader-rounds.ts';
import { requireOwnStore } from '../own-store.ts';
import { followLogStream, type LogStores, readNewLeaves, signCheckpoint } from './keep-log.ts';

export interface LogKeeperOptions extends LogStores {
  readonly databaseUrl: string;
  readonly environment: string;
  readonly signer: NoteSigner;
  readonly now: () => Date;
  /** Reports an error. Returns false if it is no outage of a dependency. */
  readonly failed: Outages['failed'];
  readonly log: Logger;
  /** How long to wait after each round, in ms. */
  readonly pauseMs?: number;
  /** Fewer than 1,000 new events wait for so long after the checkpoint before, in ms. */
  readonly checkpointEveryMs?: number;
}

/** Keeps the transparency log, on one gateway at a time: a checkpoint each half minute in which something was
 *  recorded, and for 1,000 events at most. */
export const startLogKeeper = (options: LogKeeperOptions): MeasuredWork => {
  const { client, databaseUrl, environment, signer, now, failed, log } = options;
  const { pauseMs = 2_000, checkpointEveryMs = 30_000 } = options;
  /** When the log last had all events, by the monotonic clock. Undefined while another gateway leads. */
  let completeAtMs: number | undefined;
  let signedAtMs = -Infinity;

  const round = async (signal: AbortSignal): Promise<void> => {
    await requireOwnStore(client, environment);
    for (;;) {
      const last = await followLogStream(options);
      const startedAtMs = performance.now();
      const leaves = await readNewLeaves(client, last, signal);
      if (!leaves) return void (completeAtMs = startedAtMs);
      if (!leaves.isFull && startedAtMs - signedAtMs < checkpointEveryMs) return;
      if (await signCheckpoint(options, last, leaves, { signer, now })) signedAtMs = startedAtMs;
    }
  };
  log.info({ publicKey: signer.verifierKey }, 'keeping the transparency log');
  const rounds = startLeaderRounds({
    databaseUrl,
    role: 'gateway transparency log',
    round: async (signal) => {
      completeAtMs ??= performance.now();
      await round(signal);
    },
    onEnd: () => (completeAtMs = undefined),
    failed,
    failure: 'could not add events to the transparency log, retrying',
    log,
    pauseMs,
  });
  const lagSeconds = () => (completeAtMs === undefined ? null : (performance.now() - completeAtMs) / 1_000);
  return { ...rounds, lagSeconds };
};
