import type { Checkout, WayToPay } from '@cpg/contracts';
import type { PageAssets } from '../assets.ts';
import type { Strip } from '../sandbox/strip.tsx';
import type { Speech } from '../language.ts';
import type { PageChoice } from '../page-link.ts';

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
