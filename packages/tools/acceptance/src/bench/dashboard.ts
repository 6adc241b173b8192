import pg from 'pg';
import type { Page } from 'playwright-core';
import { startStack } from '../harness/stack.ts';
import { canTestInChromium, startChromium } from '../harness/browser.ts';
import { signInAs } from '../dashboard/pages.ts';
import { atMost, ms, type Row } from './report.ts';
import { seedLists } from './seed-lists.ts';
import { inTurns } from './timings.ts';

const ROWS = Number(process.env.ROWS ?? 1_000_000);
const GOAL_MS = 1_000;
const TURNS = 7;
const WARM_UPS = 2;

/** What a page has when a user can read its numbers and open what they lead to. */
const PAGES = [
  { name: 'home', path: '/', ready: '.figure-value a' },
  { name: 'orders', path: '/orders', ready: 'tbody td a' },
  { name: 'orders, filtered', path: '/orders?status=paid&status=expired&currency=USDC', ready: 'tbody td a' },
  { name: 'orders, searched', path: '/orders?search=cart-1000', ready: 'tbody td a' },
  { name: 'orders, oldest first, 100', path: '/orders?sort=asc&limit=100', ready: 'tbody td a' },
  { name: 'payments', path: '/payments?status=applied', ready: 'tbody td a' },
  { name: 'deliveries', path: '/deliveries', ready: 'tbody td a' },
] as const;

/** Measures in Chromium how long pages take from the address to the numbers, with cached scripts. The baseline is a
 *  page that reads no list, in turns with the page. */
export const dashboard = async (): Promise<Row[]> => {
  if (!canTestInChromium('measurements of the dashboard')) return [];
  const stack = await startStack();
  const db = new pg.Client({ connectionString: stack.databaseUrl });
  const browser = await startChromium();
  try {
    await db.connect();
    console.log(`a merchant with ${ROWS / 10} of ${ROWS} orders, payments and deliveries`);
    const { large } = await seedLists(stack, db, ROWS);
    const { page } = await signInAs(browser, stack, { shop: large, role: 'owner' });
    const addressOf = (path: string) => `${stack.baseUrl}/dashboard${path}`;
    const rows: Row[] = [];
    for (const { name, path, ready } of PAGES) {
      const [ownMs, bareMs] = await inTurns(
        TURNS,
        [() => open(page, addressOf(path), ready), () => open(page, addressOf('/settings/account'), 'form input')],
        WARM_UPS,
      );
      rows.push({
        measure: `${name}, from the address to its numbers`,
        measured: ms(ownMs!),
        goal: atMost(ownMs!, GOAL_MS, ' ms'),
        baseline: { text: `page without a list ${ms(bareMs!)}`, ratio: ownMs! / bareMs! },
      });
    }
    return rows;
  } finally {
    await Promise.all([browser.close(), db.end()]);
    await stack.stop();
  }
};

const open = async (page: Page, url: string, ready: string): Promise<void> => {
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator(ready).first().waitFor();
};
