import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { Checkout } from '@cpg/contracts';
import { orderBody } from '../../harness/order-bodies.ts';
import { startStack } from '../../harness/stack.ts';
import { canTestInChromium, startChromium } from '../../pay-page/chromium.ts';
import { firstPaintOf } from '../../pay-page/first-paint.ts';
import { atMost, ms, type Row } from '../report.ts';
import { timingsOf } from '../timings.ts';
import { withBareServer } from './bare-server.ts';

const GOAL_MS = 100;
const LOADS = 11;
const WARM_UPS = 2;
/** A new window draws itself, and prepares a process for the next site. */
const WINDOW_READY_MS = 500;

/** A new tab without a link starts a process of its own for a page that isolates itself. */
const OPENINGS = ['from a link of a shop', 'again, with cached files', 'in a new tab'] as const;
type Paints = Record<(typeof OPENINGS)[number], number>;

/** Measures the first paint of a page with a QR code against the one of a page of one sentence. */
export const firstPaint = async (): Promise<Row[]> => {
  if (!canTestInChromium('first paints')) return [];
  const { stop, baseUrl, apiKey } = await startStack();
  try {
    const url = await pageWithQrCode(baseUrl, apiKey);
    const [bare, own] = await withBareServer('', (server) => paintsOf([`${server.url}/bare`, url], server.url));
    return OPENINGS.map((opening) => rowOf(opening, own![opening], bare![opening]));
  } finally {
    await stop();
  }
};

const rowOf = (opening: string, ownMs: number, bareMs: number): Row => ({
  measure: `first contentful paint in Chromium, ${opening}`,
  measured: ms(ownMs),
  goal: atMost(ownMs, GOAL_MS, ' ms'),
  baseline: { text: `bare page ${ms(bareMs)}`, ratio: ownMs / bareMs },
});

const pageWithQrCode = async (baseUrl: string, apiKey: string): Promise<string> => {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const created = await fetch(`${baseUrl}/v1/orders`, { method: 'POST', headers, body: JSON.stringify(orderBody()) });
  const { payment_reference } = (await created.json()) as { payment_reference: string };
  const url = `${baseUrl}/pay/${payment_reference}`;
  const { ways } = (await (await fetch(url, { headers: { accept: 'application/json' } })).json()) as Checkout;
  return `${url}?way=${ways[0]!.network}`;
};

/** The medians of each URL, in milliseconds. The URLs are loaded in turns. */
const paintsOf = async (urls: readonly string[], shopUrl: string): Promise<Paints[]> => {
  const browser = await startChromium();
  const paints = urls.map((): Paints[] => []);
  for (let n = -WARM_UPS; n < LOADS; n += 1)
    for (const [index, url] of urls.entries()) {
      const measured = await paintsInTurn(browser, url, shopUrl);
      if (n >= 0) paints[index]!.push(measured);
    }
  await browser.close();
  return paints.map((all) => {
    const medians = OPENINGS.map((opening) => [opening, timingsOf(all.map((each) => each[opening])).median]);
    return Object.fromEntries(medians) as Paints;
  });
};

const paintsInTurn = async (browser: Browser, url: string, shopUrl: string): Promise<Paints> => {
  // Another name of this machine is another site, as a shop is.
  const shop = shopUrl.replace('127.0.0.1', 'localhost');
  const follow = async (page: Page) => {
    await page.goto(`${shop}/bare`);
    await sleep(WINDOW_READY_MS);
    await Promise.all([page.waitForURL(url), page.evaluate(`location.assign(${JSON.stringify(url)})`)]);
    return firstPaintOf(page);
  };
  const payer = await browser.newContext();
  const page = await payer.newPage();
  const [linked, again] = [await follow(page), await follow(page)];
  await payer.close();

  const another = await browser.newContext();
  const tab = await another.newPage();
  await sleep(WINDOW_READY_MS);
  await tab.goto(url);
  const inTab = await firstPaintOf(tab);
  await another.close();
  return { 'from a link of a shop': linked, 'again, with cached files': again, 'in a new tab': inTab };
};
