import { startLeaderElection } from '@cpg/platform/postgres';
import { type Logger, newRequestId, untilAborted } from '@cpg/platform';

/** A PostgreSQL advisory lock with a unique name. Other gateways test the lock to see whether this one is alive:
 *  PostgreSQL releases it when the process ends, or soon after the process freezes. */
export interface InstanceLock {
  /** The name of the lock; null while it is not held. */
  readonly instanceName: () => string | null;
  readonly stop: () => Promise<void>;
}

export const holdInstanceLock = ({ url, log }: { url: string; log: Logger }): InstanceLock => {
  const name = `gateway ${newRequestId()}`;
  let isHeld = false;
  const { stop } = startLeaderElection({
    url,
    role: name,
    log,
    lead: async (signal) => {
      isHeld = true;
      await untilAborted(signal);
      isHeld = false;
    },
  });
  return { instanceName: () => (isHeld ? name : null), stop };
};
