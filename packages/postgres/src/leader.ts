import type { Logger } from '@cpg/runtime';
import { retry } from '@cpg/runtime';
import { holdRole, RoleTakenError } from './session.ts';

export interface LeadOptions {
  readonly url: string;
  /** What is led: one holder at a time in the whole database. */
  readonly role: string;
  readonly log: Logger;
  /** The work of the leader. It ends when `signal` aborts (leadership was lost, or the service stops) and may throw to be tried again. */
  readonly lead: (signal: AbortSignal) => Promise<void>;
}

const ASK_EVERY_MS = 1_000;
// Whoever shows no sign of life for so long is not the leader any more: a process that is frozen keeps its connection, but is silent.
const SILENT_FOR_MS = 4_000;
const SIGN_OF_LIFE_EVERY_MS = 1_000;

/** Holds a role while nobody else does: a session advisory lock on a connection of its own, so a holder that dies lets go at once, and one
 *  that is frozen within seconds. It may go on without knowing when it thaws: what it writes has to be fenced. `stop` ends the work and lets go. */
export const leadWhileAlone = ({ url, role, log, lead }: LeadOptions): { stop: () => Promise<void> } => {
  const stopping = new AbortController();
  const running = retry(
    async () => {
      await holdRole({ url, name: `leader ${role}`, role }, async (session, lost) => {
        await session.query(`set idle_session_timeout = ${SILENT_FOR_MS}`);
        const beating = setInterval(() => void session.query('select 1').catch(() => {}), SIGN_OF_LIFE_EVERY_MS);
        try {
          log.info({ role }, 'leading');
          await lead(AbortSignal.any([stopping.signal, lost]));
        } finally {
          clearInterval(beating);
        }
      });
      if (!stopping.signal.aborted) throw new Error(`${role}: no longer the leader`);
    },
    {
      signal: stopping.signal,
      maxMs: ASK_EVERY_MS,
      firstMs: ASK_EVERY_MS / 4,
      onError: (error) => {
        if (!(error instanceof RoleTakenError)) log.warn({ err: error, role }, 'leader lost its role, trying again');
      },
    },
  ).catch(() => {});
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
