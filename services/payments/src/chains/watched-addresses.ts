import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Watched } from './chain-source.ts';

/** An account whose addresses are watched. */
export interface WatchedAccount {
  /** BIP32 fingerprint. */
  readonly fingerprint: string;
  readonly addressAt: (index: number) => string;
}

export interface WatchedAddressesOptions {
  readonly accounts: () => Promise<readonly WatchedAccount[]>;
  /** The index after the last one that was reserved for orders. */
  readonly nextIndex: (fingerprint: string) => Promise<number>;
  /** Addresses that orders showed before the call, that belong to none of these accounts and that
   *  no earlier call returned. */
  readonly earlierAddresses: (fingerprints: readonly string[]) => Promise<readonly string[]>;
}

export interface WatchedAddresses {
  /** The addresses that orders showed before the call. Throws if that cannot be known. */
  readonly refresh: () => Promise<Watched>;
}

/** The addresses of a set. */
export const watchedIn = (addresses: ReadonlySet<string>): Watched => ({
  get size() {
    return addresses.size;
  },
  among: async (some) => new Set(some.filter((address) => addresses.has(address))),
});

/** One derivation takes about 0.1 ms. */
const BATCH = 64;

/** The addresses of every index that was reserved, from 0 on. An index is reserved before it is shown, so whoever paid
 *  in a block that a node already has paid to one of them. */
export const watchedAddresses = ({
  accounts,
  nextIndex,
  earlierAddresses,
}: WatchedAddressesOptions): WatchedAddresses => {
  const addresses = new Set<string>();
  /** The index after those that were derived, by account. */
  const derived = new Map<string, number>();

  const derive = async ({ fingerprint, addressAt }: WatchedAccount): Promise<void> => {
    const next = await nextIndex(fingerprint);
    for (let index = derived.get(fingerprint) ?? 0; index < next; index += 1) {
      addresses.add(addressAt(index));
      derived.set(fingerprint, index + 1);
      if (index % BATCH === BATCH - 1) await yieldToEventLoop();
    }
  };
  const watched: Watched = watchedIn(addresses);
  const refresh = async (): Promise<Watched> => {
    const known = await accounts();
    const earlier = await earlierAddresses(known.map(({ fingerprint }) => fingerprint));
    for (const address of earlier) addresses.add(address);
    await Promise.all(known.map(derive));
    return watched;
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
