import { store, stored } from '../storage.ts';

/** A payment that a wallet was asked to send and the page does not show yet. */
export interface Sent {
  /** Null until the wallet has returned it. */
  readonly hash: string | null;
  /** The transaction on the explorer of its network; null where there is none. */
  readonly url: string | null;
  readonly amount: string;
  readonly atMs: number;
  /** The transactions that the page showed before. */
  readonly known: readonly string[];
}

/** A transaction that no node has seen by then was dropped. */
const FORGET_AFTER_MS = 24 * 60 * 60_000;
const PREFIX = 'sent ';

const key = () => `${PREFIX}${location.pathname}`;

/** The transactions that the page shows. */
export const shownTransactions = (): { hash: string; amount: string }[] =>
  [...document.querySelectorAll<HTMLElement>('main [data-tx]')].map(({ dataset }) => ({
    hash: dataset.tx!.toLowerCase(),
    amount: dataset.amount ?? '',
  }));

/** Whether the page shows the transaction or its replacement, or it is not to be expected any more. A replacement has
 *  another hash and the same amount. */
export const isOver = ({ hash, amount, atMs, known }: Sent): boolean =>
  isOld(atMs) ||
  shownTransactions().some(
    (shown) => shown.hash === hash?.toLowerCase() || (shown.amount === amount && !known.includes(shown.hash)),
  );

const isOld = (atMs: number): boolean => Date.now() - atMs > FORGET_AFTER_MS;

/** Keeps it for every tab; null forgets it. */
export const rememberSent = (sent: Sent | null): void => store(key(), sent && JSON.stringify(sent));

export const rememberedSent = (): Sent | null => readSent(key());

/** Calls back when another tab has sent the payment of this page, or has forgotten it. */
export const onSentElsewhere = (callback: () => void): void =>
  addEventListener('storage', (event) => {
    if (event.key === null || event.key === key()) callback();
  });

/** Removes what nobody opens any more. */
export const forgetOldSent = (): void => {
  try {
    for (const each of Object.keys(localStorage))
      if (each.startsWith(PREFIX) && isOld(readSent(each)?.atMs ?? 0)) localStorage.removeItem(each);
  } catch {
    return;
  }
};

const readSent = (name: string): Sent | null => {
  try {
    return JSON.parse(stored(name) ?? 'null') as Sent | null;
  } catch {
    return null;
  }
};
