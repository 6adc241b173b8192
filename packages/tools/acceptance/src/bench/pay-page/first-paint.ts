import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Checkout } from '@cpg/contracts';
import type { Browser, Page } from 'playwright-core';
import { type Stack, startStack } from '../../harness/stack.ts';
import { canTestInChromium, firstPaintOf, startChromium } from '../../harness/browser.ts';
import { orderClient } from '../order-client.ts';
import { atMost, ms, type Row } from '../report.ts';
import { timingsOf } from '../timings.ts';

const GOAL_MS = 100;
const LOADS = 11;
const WARM_UPS = 2;
/** A new window draws itself, and prepares a process for the next site. */
const WINDOW_READY_MS = 500;

/** A new tab without a link starts a process of its own for a page that isolates itself. */
const OPENINGS = ['from a link of a shop', 'again, with cached files', 'in a new tab'] as const;
type Paints = Record<(typeof OPENINGS)[number], number>;

/** Measures the first paint of a page with a QR code against the one of a shop's page of one sentence. */
export const firstPaint = async (): Promise<Row[]> => {
  if (!canTestInChromium('first paints')) return [];
  const stack = await startStack();
  const shop = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Shop</title><p>A bare page.'),
  );
  try {
    await once(shop.listen(0, '127.0.0.1'), 'listening');
    const { port } = shop.address() as AddressInfo;
    const [bare, own] = await paintsOf([`http://127.0.0.1:${port}/`, await pageWithQrCode(stack)], port);
    return OPENINGS.map((opening) => ({
      measure: `first contentful paint in Chromium, ${opening}`,
      measured: ms(own![opening]),
      goal: atMost(own![opening], GOAL_MS, ' ms'),
      baseline: { text: `bare page ${ms(bare![opening])}`, ratio: own![opening] / bare![opening] },
    }));
  } finally {
    shop.close();
    await stack.stop();
  }
};

const pageWithQrCode = async (stack: Stack): Promise<string> => {
  const orders = orderClient({ ...stack, connections: 1 });
  const { payment_reference } = JSON.parse(await orders.createOrder()) as { payment_reference: string };
  await orders.close();
  const url = `${stack.baseUrl}/pay/${payment_reference}`;
  const { ways } = (await (await fetch(url, { headers: { accept: 'application/json' } })).json()) as Checkout;
  return `${url}?way=${ways[0]!.network}`;
};

/** The medians of each URL, in milliseconds. The URLs are loaded in turns. */
const paintsOf = async (urls: readonly string[], shopPort: number): Promise<Paints[]> => {
  const browser = await startChromium();
  const paints = urls.map((): Paints[] => []);
  for (let n = -WARM_UPS; n < LOADS; n += 1)
    for (const [index, url] of urls.entries()) {
      const measured = await paintsInTurn(browser, url, shopPort);
      if (n >= 0) paints[index]!.push(measured);
    }
  await browser.close();
  return paints.map((all) => {
    const medians = OPENINGS.map((opening) => [opening, timingsOf(all.map((each) => each[opening])).median]);
    return Object.fromEntries(medians) as Paints;
  });
};

const paintsInTurn = async (browser: Browser, url: string, shopPort: number): Promise<Paints> => {
  const follow = async (page: Page) => {
    // Another name of this machine is another site, as a shop is.
    await page.goto(`http://localhost:${shopPort}/`);
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
