import { appendFileSync, existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import axe, { type AxeResults } from 'axe-core';
import jsqr from 'jsqr';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PNG } from 'pngjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
/** A name of this machine that browsers do not trust as they trust `localhost`. */
export const PLAIN_HTTP_HOST = 'pay.test';

/** No sandbox: tests may run as root. The rest keeps the browser from calling its maker. */
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', `--host-resolver-rules=MAP ${PLAIN_HTTP_HOST} 127.0.0.1`],
];

/** Path of a Chromium: `CHROMIUM_BIN`, or the first one on the PATH; null if there is none. */
const findChromium = (): string | null =>
  process.env.CHROMIUM_BIN ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((file) => existsSync(file)) ??
  null;

/** Whether there is a browser; otherwise reports that tests are skipped. */
export const canTestInChromium = (tests: string): boolean => {
  if (findChromium()) return true;
  const reason = `${tests} are skipped: Chromium is missing; on Debian, apt-get install chromium installs it`;
  process.stderr.write(`${reason}\n`);
  if (process.env.SKIPPED_BECAUSE) appendFileSync(process.env.SKIPPED_BECAUSE, `${reason}\n`);
  return false;
};

export const startChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: findChromium()!, args: FLAGS, headless: true });

const FIRST_PAINT = `new Promise((done) =>
  new PerformanceObserver((list) => {
    const [paint] = list.getEntriesByName('first-contentful-paint');
    if (paint) done(paint.startTime);
  }).observe({ type: 'paint', buffered: true }))`;

/** Milliseconds to the first contentful paint. The script of the page starts then. */
export const firstPaintOf = (page: Page): Promise<number> => page.evaluate<number>(FIRST_PAINT);

/** A person's browser on a page. */
export interface Visit {
  readonly page: Page;
  /** Console errors, failed requests, and requests to another origin. */
  readonly faults: readonly string[];
  readonly close: () => Promise<void>;
}

const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  hasTouch: true,
};
export const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 900 } };

// The smallest screen that people still use.
const SMALL_PHONE = { ...PHONE, viewport: { width: 320, height: 568 } };
export const SCREENS = [
  { shot: 'phone-light', ...PHONE, colorScheme: 'light' },
  { shot: 'desktop-es-dark', ...DESKTOP, colorScheme: 'dark', locale: 'es-MX' },
  { shot: 'phone-pt-dark', ...SMALL_PHONE, colorScheme: 'dark', locale: 'pt-BR' },
] as const;

/** For screenshots of every state and step, for people to look at. */
const SCREENSHOTS =
  process.env.PAY_PAGE_SCREENSHOTS ?? fileURLToPath(new URL('../../../../../screenshots/pay-page/', import.meta.url));

export const takeScreenshot = async (page: Page, name: string): Promise<void> => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
};

/** Opens a page in a browser profile of its own, and waits until its script has started. */
export const visit = async (
  browser: Browser,
  url: string,
  { prepare, ...options }: BrowserContextOptions & { prepare?: (page: Page) => Promise<unknown> } = {},
): Promise<Visit> => {
  const context = await browser.newContext({ locale: 'en-US', ...PHONE, ...options });
  const page = await context.newPage();
  const faults = faultsOf(page, new URL(url).origin);
  await prepare?.(page);
  await page.goto(url);
  if (options.javaScriptEnabled !== false) await firstPaintOf(page);
  return { page, faults, close: () => context.close() };
};

const faultsOf = (page: Page, origin: string): string[] => {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`foreign: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`);
  });
  page.on('requestfailed', (request) => {
    // The event stream, which a page closes when it is left.
    if (request.resourceType() === 'eventsource') return;
    faults.push(`failed: ${request.url()} ${request.failure()?.errorText}`);
  });
  return faults;
};

/** What WCAG 2.2 AA and the best practices of axe find wrong, one line each. */
export const violationsOn = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id}: ${help}: ${html}`));
};

/** The words that do not stand whole within the screen. Codes have no words. */
export const tornWordsOn = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const torn = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text; (text = texts.nextNode());) {
      const parent = text.parentElement;
      if (parent.closest('code, script, .visually-hidden, .skip') || !parent.checkVisibility()) continue;
      for (const { 0: word, index } of text.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const boxes = [...range.getClientRects()];
        const isOut = boxes.some(({ left, right }) => left < 0 || right > document.documentElement.clientWidth);
        if (isOut || new Set(boxes.map(({ top }) => Math.round(top))).size > 1) torn.push(word);
      }
    }
    return torn;
  })()`);

/** By how many pixels the page is wider than the screen: a payer would have to scroll sideways. */
export const sidewaysOn = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** The text of the QR code in a screenshot, null if there is none. */
export const qrCodeOn = async (page: Page): Promise<string | null> => {
  const { data, width, height } = PNG.sync.read(await page.screenshot({ fullPage: true, scale: 'css' }));
  return jsqr.default(new Uint8ClampedArray(data), width, height)?.data ?? null;
};
