import { setTimeout as sleep } from 'node:timers/promises';
import { isTemporary } from '@cpg/contracts';
import type { Logger } from '@cpg/platform';
import { type IsLeader, startLeaderElection } from '@cpg/platform/postgres';
import type { ChainKind } from './chain-kind.ts';
import { ChainHaltedError } from './reading/open-chain.ts';
import type { ChainProgress } from './reading/chain-progress.ts';
import type { Watcher } from './reading/watcher.ts';

/** A network whose chain is read. */
export interface WatchedChain {
  readonly network: string;
  readonly kind: ChainKind;
  /** Called each time that this process becomes the leader of the network; `close` when it is not any more. */
  readonly open: (isLeader: IsLeader) => {
    readonly watcher: Watcher;
    /** Follows requests for rescans until `signal` aborts. */
    readonly followRescans: (signal: AbortSignal) => Promise<void>;
    readonly close: () => Promise<void>;
  };
}

export interface Chains {
  /** Of the networks that this process leads. */
  readonly progress: () => ReadonlyMap<string, ChainProgress>;
  readonly stop: () => Promise<void>;
}

const LONGEST_PAUSE_MS = 30_000;

/** Reads each chain in one process of those that share the database. */
export const startChains = (
  chains: readonly WatchedChain[],
  { databaseUrl, log }: { readonly databaseUrl: string; readonly log: Logger },
): Chains => {
  const led = new Map<string, Watcher>();
  const elections = chains.map(({ network, kind, open }) =>
    startLeaderElection({
      url: databaseUrl,
      role: `payments.chain-${network}`,
      log,
      lead: async (signal, isLeader) => {
        const { watcher, followRescans, close } = open(isLeader);
        led.set(network, watcher);
        try {
          await Promise.all([watch(watcher, { network, kind, signal, log }), followRescans(signal)]);
        } finally {
          led.delete(network);
          await close();
        }
      },
    }),
  );
  return {
    progress: () => new Map([...led].map(([network, watcher]) => [network, watcher.progress()])),
    stop: async () => void (await Promise.all(elections.map(({ stop }) => stop()))),
  };
};

interface WatchOptions {
  readonly network: string;
  readonly kind: ChainKind;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Reads on at each interval until `signal` aborts. */
export const watch = async (watcher: Watcher, { network, kind, signal, log }: WatchOptions): Promise<void> => {
  let failures = 0;
  let lastFailure = '';
  let isBehind = false;
  let isStalled = false;
  while (!signal.aborted) {
    try {
      await watcher.readOn(signal);
      if (lastFailure !== '') log.info({ network }, 'reading of the chain goes on');
      failures = 0;
      lastFailure = '';
      const { state, height, tip, stalled } = watcher.progress();
      if (state === 'behind' && !isBehind) log.warn({ network, height, tip }, 'the nodes are behind: waiting for them');
      isBehind = state === 'behind';
      if (stalled !== null && !isStalled)
        log.error(
          { network, detail: stalled },
          'the chain is not current: its orders wait, see docs/operators/alarms.md',
        );
      if (stalled === null && isStalled) log.info({ network }, 'the chain is current again');
      isStalled = stalled !== null;
    } catch (error) {
      // A read model that is behind, or a store that is unavailable, is no reason to ask the nodes less often.
      failures = isTemporary(error) ? 0 : failures + 1;
      const { name, message } = error as Error;
      const failure = `${name}: ${message}`;
      // The same failure is logged once, however often it is met.
      if (failure !== lastFailure && !signal.aborted) logFailure(log, network, error);
      lastFailure = failure;
    }
    const isHalted = watcher.progress().state === 'halted';
    const pauseMs = isHalted ? LONGEST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, kind.pollMs * 2 ** Math.min(failures, 10));
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
};

const logFailure = (log: Logger, network: string, error: unknown): void => {
  if (error instanceof ChainHaltedError)
    log.error(
      { network, reason: error.reason, detail: error.message },
      'reading of the chain halted: see docs/operators/alarms.md',
    );
  else log.warn({ network, err: error }, 'reading of the chain failed, retrying');
};
