import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

export interface DerivedAddress {
  readonly index: number;
  readonly address: string;
}

export interface AddressPool {
  /** An address that is never returned again, except after `release`. */
  readonly take: () => Promise<DerivedAddress>;
  /** Returns an address to the pool that was not assigned to any order. */
  readonly release: (unused: DerivedAddress) => void;
}

export interface AddressPoolOptions {
  /** Reserves `count` indexes of the account durably. Resolves to the first. */
  readonly reserve: (count: number) => Promise<number>;
  readonly addressAt: (index: number) => string;
  /** Number of addresses to derive ahead. A crash wastes fewer than twice as many, below the gap limit of 20 of wallets
   *  (BIP44). */
  readonly ahead?: number;
}

const AHEAD = 8;

/** Derives addresses ahead of demand, so that an order does not wait for it. Derives each address twice and compares,
 *  because money sent to a wrong address is lost. */
export const addressPool = ({ reserve, addressAt, ahead = AHEAD }: AddressPoolOptions): AddressPool => {
  const ready: DerivedAddress[] = [];
  let filling: Promise<void> | undefined;

  const fill = (): Promise<void> => {
    filling ??= (async () => {
      const first = await reserve(ahead);
      for (let index = first; index < first + ahead; index += 1) {
        await yieldToEventLoop();
        const address = addressAt(index);
        if (address !== addressAt(index)) throw new Error('two derivations of one address differ');
        ready.push({ index, address });
      }
    })().finally(() => {
      filling = undefined;
    });
    return filling;
  };

  return {
    take: async () => {
      while (ready.length === 0) await fill();
      const next = ready.shift()!;
      // Ignored here: the next `take()` retries and reports the error.
      if (ready.length < ahead / 2) fill().catch(() => {});
      return next;
    },
    release: (unused) => void ready.unshift(unused),
  };
};
