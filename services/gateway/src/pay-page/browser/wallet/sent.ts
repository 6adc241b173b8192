/** A transaction that a wallet has sent and that the page does not show yet. */
export interface Sent {
  readonly hash: string;
  /** The transaction on the explorer of its network; null where there is none. */
  readonly url: string | null;
  readonly atMs: number;
}

/** A transaction that no node has seen by then was likely replaced or dropped. */
const FORGET_AFTER_MS = 15 * 60_000;

const key = () => `sent ${location.pathname}`;

/** Whether the page shows the payment (`data-tx`), or it is not to be expected any more. */
export const isOver = ({ hash, atMs }: Sent): boolean =>
  Date.now() - atMs > FORGET_AFTER_MS || document.querySelector(`main [data-tx="${CSS.escape(hash)}" i]`) !== null;

/** Keeps it for a reload of the page; null forgets it. A browser without storage keeps nothing. */
export const rememberSent = (sent: Sent | null): void => {
  try {
    if (sent) sessionStorage.setItem(key(), JSON.stringify(sent));
    else sessionStorage.removeItem(key());
  } catch {
    return;
  }
};

export const rememberedSent = (): Sent | null => {
  try {
    return JSON.parse(sessionStorage.getItem(key()) ?? 'null') as Sent | null;
  } catch {
    return null;
  }
};
