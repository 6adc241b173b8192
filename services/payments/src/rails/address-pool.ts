import { setImmediate as yieldToOthers } from 'node:timers/promises';

export interface DerivedAddress {
  readonly index: number;
  readonly address: string;
}

export interface AddressPool {
  /** An address that nobody else has or will get. */
  readonly take: () => Promise<DerivedAddress>;
  /** Gives back one that was certainly not handed out. */
  readonly giveBack: (unused: DerivedAddress) => void;
}

export interface AddressPoolOptions {
  /** Takes `count` indexes of the account for good, and resolves to the first once that is durable. */
  readonly reserve: (count: number) => Promise<number>;
  readonly addressAt: (index: number) => string;
  /** Derived ahead. A crash leaves fewer than twice as many unused, which is less than the gap of 20 that wallets look across. */
  readonly ahead?: number;
}

const AHEAD = 8;

/** Derives addresses before they are asked for, so that an order does not wait for the arithmetic. Every one is derived twice and
 *  compared: a wrong one would send money nowhere. */
export const addressPool = ({ reserve, addressAt, ahead = AHEAD }: AddressPoolOptions): AddressPool => {
  const ready: DerivedAddress[] = [];
  let filling: Promise<void> | undefined;

  const fill = (): Promise<void> => {
    filling ??= (async () => {
      const first = await reserve(ahead);
      for (let index = first; index < first + ahead; index += 1) {
        await yieldToOthers();
        const address = addressAt(index);
        if (address !== addressAt(index)) throw new Error('an address came out different when it was derived again');
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
      // Whoever finds the pool empty asks again, and hears why.
      if (ready.length < ahead / 2) fill().catch(() => {});
      return next;
    },
    giveBack: (unused) => void ready.unshift(unused),
  };
};
