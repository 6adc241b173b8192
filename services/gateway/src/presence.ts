import { startLeaderElection } from '@cpg/postgres';
import { type Logger, newRequestId } from '@cpg/runtime';

/** Says to the other gateways that this one lives: an advisory lock on a name of its own, which ends with the process, or soon after it is frozen. */
export interface Presence {
  /** The name; null while the lock is not held. */
  readonly instance: () => string | null;
  readonly stop: () => Promise<void>;
}

export const showPresence = ({ url, log }: { url: string; log: Logger }): Presence => {
  const name = `gateway ${newRequestId()}`;
  let held = false;
  const { stop } = startLeaderElection({
    url,
    role: name,
    log,
    lead: async (signal) => {
      held = true;
      await new Promise<void>((lost) => signal.addEventListener('abort', () => lost(), { once: true }));
      held = false;
    },
  });
  return { instance: () => (held ? name : null), stop };
};
