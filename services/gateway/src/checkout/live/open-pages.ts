import type { ServerResponse } from 'node:http';
import type { Logger } from '@cpg/platform';
import pMap from 'p-map';
import type { CheckoutOrder } from '../state/checkout-queries.ts';
import { eventText, send } from './event-streams.ts';

/** The view of an order that a payer sees at one moment. */
export interface PageState {
  readonly orderId: string;
  /** The revision of the order's row that is shown. */
  readonly revision: number;
  /** Another value means that the page shows something else. */
  readonly version: string;
  /** Whether the page shows a payment that waits for confirmations. */
  readonly waitsForBlocks: boolean;
}

export interface OpenPages {
  /** The page as it is now; null if there is none. */
  readonly load: (reference: string) => Promise<LoadedPage | null>;
  /** Tells the client of `response` the version of the page, now and whenever it changes. */
  readonly add: (page: LoadedPage, response: ServerResponse) => void;
  readonly stop: () => Promise<void>;
}

interface LoadedPage extends PageState {
  readonly reference: string;
  /** The chain heights that were known before it was loaded. */
  readonly heights: string;
}

export interface OpenPagesOptions {
  readonly load: (reference: string, known?: CheckoutOrder) => Promise<PageState | null>;
  /** The orders whose row no longer has the known revision; null for a deleted order. */
  readonly changedOrders: (known: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, CheckoutOrder | null>>;
  readonly chainHeights: () => Promise<string>;
  readonly log: Pick<Logger, 'warn'>;
  readonly everyMs?: number;
}

interface OpenPage {
  state: LoadedPage;
  /** The latest load failed, or clients have different versions. */
  isStale: boolean;
  readonly clients: Set<ServerResponse>;
}

const EVERY_MS = 1_000;
/** The updates take at most this part of the time, however many pages are open, unless payers
 *  would wait longer than `LONGEST_PAUSE_MS` for the next one. */
const SHARE = 1 / 10;
const LONGEST_PAUSE_MS = 5_000;
const CONCURRENT_LOADS = 8;
/** Bounds the rows that one query returns. */
const PAGES_PER_QUERY = 500;

/** Asks once a second which orders of open pages have changed. */
export const followOpenPages = (options: OpenPagesOptions): OpenPages => {
  const { changedOrders, chainHeights, log, everyMs = EVERY_MS } = options;
  const pages = new Map<string, OpenPage>();
  let heights = '';

  const load = async (reference: string, known?: CheckoutOrder): Promise<LoadedPage | null> => {
    // Read first: a block that arrives during the load makes it load again.
    const before = heights;
    const state = await options.load(reference, known);
    return state && { ...state, reference, heights: before };
  };

  const refresh = async (page: OpenPage, known?: CheckoutOrder | null): Promise<void> => {
    page.isStale = true;
    const { reference, orderId, version } = page.state;
    const state = await load(reference, known ?? undefined);
    page.isStale = false;
    if (!state) {
      pages.delete(orderId);
      for (const client of page.clients) client.end(eventText('changed', 'deleted'));
      return;
    }
    page.state = state;
    if (state.version === version) return;
    const event = eventText('changed', state.version);
    for (const client of page.clients) send(client, event);
  };

  const update = async (): Promise<void> => {
    heights = await chainHeights();
    const open = [...pages.values()];
    const starts = Array.from({ length: Math.ceil(open.length / PAGES_PER_QUERY) }, (_, n) => n * PAGES_PER_QUERY);
    const parts = starts.map((start) => open.slice(start, start + PAGES_PER_QUERY));
    await pMap(parts, updatePart, { concurrency: 1, stopOnError: false });
  };
  const updatePart = async (part: readonly OpenPage[]): Promise<void> => {
    const changed = await changedOrders(new Map(part.map(({ state }) => [state.orderId, state.revision])));
    const toRefresh = part.filter(
      ({ isStale, state }) =>
        isStale || changed.has(state.orderId) || (state.waitsForBlocks && state.heights !== heights),
    );
    await pMap(toRefresh, (page) => refresh(page, changed.get(page.state.orderId)), {
      concurrency: CONCURRENT_LOADS,
      stopOnError: false,
    });
  };

  const updates = repeatUpdates({ update, isNeeded: () => pages.size > 0, everyMs, log });

  return {
    load,
    add: (state, client) => {
      const open = pages.get(state.orderId);
      const page = open ?? { state, isStale: false, clients: new Set() };
      if (!open) pages.set(state.orderId, page);
      page.clients.add(client);
      client.once('close', () => {
        page.clients.delete(client);
        if (page.clients.size === 0 && pages.get(state.orderId) === page) pages.delete(state.orderId);
      });
      // Another client's state can be newer or older: the next update compares it with the row.
      if (page.state.version !== state.version) page.isStale = true;
      send(client, eventText('changed', page.state.version));
      updates.schedule();
    },
    stop: updates.stop,
  };
};

interface UpdateOptions extends Required<Pick<OpenPagesOptions, 'log' | 'everyMs'>> {
  readonly update: () => Promise<void>;
  readonly isNeeded: () => boolean;
}

/** Updates again and again while it is needed, with pauses in proportion to the time that an update takes. */
const repeatUpdates = ({ update, isNeeded, everyMs, log }: UpdateOptions) => {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let hasStopped = false;
  let isFailing = false;

  const tick = async (): Promise<void> => {
    const startedMs = performance.now();
    try {
      await update();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'open payment pages cannot be updated: trying again');
      isFailing = true;
    }
    timer = undefined;
    const pauseMs = Math.min((performance.now() - startedMs) / SHARE, LONGEST_PAUSE_MS);
    schedule(Math.max(everyMs, pauseMs));
  };
  const schedule = (afterMs = everyMs): void => {
    if (timer || hasStopped || !isNeeded()) return;
    timer = setTimeout(() => void (running = tick()), afterMs).unref();
  };
  return {
    schedule,
    stop: async () => {
      hasStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};
