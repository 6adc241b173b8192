import { AppError } from '@cpg/contracts';
import type { followLog } from '@cpg/event-sourcing';
import type { Queryable } from '@cpg/platform/postgres';
import { type KnownAddress, knownAddresses, watchedEstimate } from '../../payables/deposit-addresses.ts';
import type { Watched } from '../chain-source.ts';

export interface WatchedAddressesOptions {
  readonly db: Queryable;
  /** The addresses of orders that the rows of payables may not include yet. */
  readonly beyondRows: ReturnType<typeof followLog>;
  /** Called with addresses that received money and that no order shows, before they are answered. */
  readonly onUnshown: (found: readonly NonNullable<KnownAddress['unshown']>[]) => Promise<void>;
  /** The time by which addresses retire: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
}

export interface WatchedAddresses {
  /** All addresses that orders showed before the call and that are not retired, and those that no order shows yet.
   *  Throws `dependency_unavailable` while that cannot be known. */
  readonly refresh: () => Promise<Watched>;
}

/** The addresses of a set. */
export const watchedIn = (addresses: ReadonlySet<string>): Watched => ({
  get size() {
    return addresses.size;
  },
  watchedAmong: async (some) => new Set(some.filter((address) => addresses.has(address))),
});

/** Looks addresses up in tables and in the log beyond them, so that memory does not grow with their number. An order is
 *  recorded before anybody sees its address, so whoever paid in a block that a node already has paid to one of them. */
export const watchedAddresses = ({ db, beyondRows, onUnshown, endsBy }: WatchedAddressesOptions): WatchedAddresses => {
  const refresh = async (): Promise<Watched> => {
    const [beyond, size] = [await beyondRows(), await watchedEstimate(db)];
    return {
      size,
      watchedAmong: async (some) => {
        const unique = [...new Set(some)];
        if (unique.length === 0) return new Set();
        // Before the rows, which may include them meanwhile.
        const watched = new Set(unique.filter(beyond.has));
        const from = beyond.from?.commit ?? null;
        const known = await knownAddresses(db, { among: unique, from, at: endsBy() });
        if (!known)
          throw new AppError('dependency_unavailable', 'the read models are not complete: try again later', {
            cause: new Error(`the checkpoint of payables is before ${from}`),
          });
        for (const { address } of known) watched.add(address);
        const unshown = known.flatMap((each) => (each.unshown && !beyond.has(each.address) ? [each.unshown] : []));
        if (unshown.length > 0) await onUnshown(unshown);
        return watched;
      },
    };
  };

  // A call joins the next run, never the current one, so it reads all earlier events.
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<Watched> | null = null;
  const begin = (): Promise<Watched> => {
    waiting = null;
    return refresh();
  };
  return {
    refresh: () => {
      if (waiting) return waiting;
      waiting = last.then(begin);
      last = waiting.catch(() => {});
      return waiting;
    },
  };
};
