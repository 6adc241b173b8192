import type { Logger } from '@cpg/platform';
import { unwind } from './chain-change.ts';
import type { ChainKind } from '../chain-kind.ts';
import type { ChainSource } from '../chain-source.ts';
import { type ChainState, type ChainStore, isUnmined } from './chain-store.ts';
import type { ChainStream } from './chain-stream.ts';
import { requireLead } from './reading.ts';
import { requireSameChain, rescanPlace, startPlace } from './start-place.ts';

export interface OpenChainOptions {
  readonly network: string;
  readonly kind: ChainKind;
  readonly source: ChainSource;
  readonly store: ChainStore;
  readonly stream: ChainStream;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Loads how far a chain was read. Begins where that is unknown, and begins a rescan that an operator asked for. With
 *  `verify`, also throws ChainHaltedError or WrongChainError if the nodes serve another chain. */
export const openChain = (options: OpenChainOptions) => {
  const { network, kind, source, store, stream, now, log } = options;

  const begin = async (): Promise<void> => {
    const { genesis, ...start } = await startPlace({ source, stream, kind });
    requireLead(await store.begin(genesis, null, { cursor: { ...start, time: null, nodes: [] }, transfers: [] }));
    log.info({ network, height: start.height }, 'reading of the chain begins');
  };

  const rescan = async (state: ChainState | null, from: number): Promise<void> => {
    const { genesis, ...start } = await rescanPlace({ source, kind, from });
    await stream.started({ ...start, genesis });
    const cursor = state?.window.at(-1) ?? null;
    const readUpTo = cursor?.height ?? start.height;
    const gone = await store.above(start.height);
    const change = unwind(
      { ...start, time: null, nodes: [] },
      readUpTo,
      gone,
      (await store.open()).filter(isUnmined),
      now(),
    );
    requireLead(await store.begin(genesis, cursor, change));
    log.warn({ network, height: start.height, from }, 'the chain is read again, as an operator asked');
  };

  return async ({ verify }: { readonly verify: boolean }): Promise<ChainState> => {
    if (verify) await source.verify();
    for (;;) {
      const { state, rescanFrom } = await store.load();
      if (rescanFrom !== null) await rescan(state, rescanFrom);
      else if (!state) await begin();
      else {
        if (verify) await requireSameChain(source, state.genesis);
        return state;
      }
    }
  };
};
