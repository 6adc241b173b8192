import type { Checkout, WayToPay } from '@cpg/contracts';
import type { Strip } from '../sandbox/actions.ts';
import type { PageChoice } from '../state/page-link.ts';
import type { PageAssets } from './assets.ts';
import type { Format } from './format.ts';
import type { Speech } from './language.ts';

/** What every part of the page is rendered from. */
export interface View extends Speech {
  readonly checkout: Checkout;
  /** Another value means that the page shows something else. */
  readonly version: string;
  /** The clock of the server. */
  readonly now: Date;
  /** The way to pay that is open; null for the summary. */
  readonly way: WayToPay | null;
  /** A link to this page with another choice. */
  readonly link: (choice: PageChoice) => string;
  readonly assets: PageAssets;
  /** Null outside of a sandbox. */
  readonly strip: Strip | null;
}

interface TimeProps {
  readonly at: string;
  readonly format: Format;
}

/** An instant in UTC. The script shows it in the payer's time zone. */
export const Time = ({ at, format }: TimeProps) => <time datetime={at}>{format.dateTime(at)}</time>;

/** A text around an instant. */
export const TextWithTime = ({ text, ...time }: TimeProps & { readonly text: (time: string) => string }) => {
  const [before, after] = text('{time}').split('{time}');
  return (
    <>
      {before}
      <Time {...time} />
      {after}
    </>
  );
};

/** A transaction, with a link to it if a block explorer shows it. */
export const TransactionHash = ({ hash, url }: { readonly hash: string; readonly url: string | undefined }) =>
  url === undefined ? (
    <code>{hash}</code>
  ) : (
    <a href={url} target="_blank" rel="noreferrer">
      <code>{hash}</code>
    </a>
  );

/** Whether a decimal string is more than zero. */
export const isPositive = (amount: string): boolean => /[1-9]/.test(amount);
