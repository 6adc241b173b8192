import type { Checkout, WayToPay } from '@cpg/contracts';
import type { PageAssets } from './assets.ts';
import type { SandboxAction } from '../sandbox/actions.ts';
import type { Speech } from './language.ts';
import type { PageChoice } from '../state/page-link.ts';

/** What the strip of a sandbox page offers. */
export interface Strip {
  readonly actions: readonly SandboxAction[];
  /** The network on which the test wallet can pay; null if it cannot. */
  readonly walletNetwork: string | null;
}

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
