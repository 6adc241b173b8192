import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { createUser, type Shop } from '../harness/merchants.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import type { StackFiles } from '../harness/stack-files.ts';
import { DESKTOP, startChromium, visit, type Visit } from '../harness/browser.ts';
import { type FullShop, openFullShop } from './full-shop.ts';

interface Opened {
  readonly stack: Stack;
  readonly browser: Browser;
  readonly full: FullShop;
}

/** A stack with a full shop, and a browser, for the tests of a `describe`. */
export const withFullShop = (limitMs: number, text?: string): Opened => {
  const open: { stack?: Stack; browser?: Browser; receiver?: Receiver; full?: FullShop } = {};
  beforeAll(async () => {
    [open.stack, open.browser, open.receiver] = await Promise.all([startStack(), startChromium(), startReceiver()]);
    open.full = await openFullShop(open.stack, open.receiver, text);
  }, limitMs);
  afterAll(async () => {
    await Promise.all([open.browser?.close(), open.receiver?.close(), open.stack?.stop()]);
  }, limitMs);
  return {
    get stack() {
      return open.stack!;
    },
    get browser() {
      return open.browser!;
    },
    get full() {
      return open.full!;
    },
  };
};

/** The pages of the dashboard by name. */
export const pagesOf = ({ orders, orphan, webhook, delivery, request }: FullShop): Record<string, string> => ({
  home: '/',
  orders: '/orders',
  'orders without a match': '/orders?q=nothing+has+this',
  'new order': '/orders/new',
  'paid order': `/orders/${orders.paid}`,
  'waiting order': `/orders/${orders.waiting}`,
  'canceled order': `/orders/${orders.canceled}`,
  'unknown order': '/orders/ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C',
  payments: '/payments',
  orphan: `/payments/${orphan}`,
  refunds: '/refunds',
  reports: '/reports',
  'report of too many days': '/reports?period=own&from=2026-01-01&to=2026-03-01&timezone=UTC',
  webhooks: '/webhooks',
  webhook: `/webhooks/${webhook}`,
  deliveries: '/deliveries',
  delivery: `/deliveries/${webhook}/${delivery}`,
  'API keys': '/api-keys',
  requests: '/requests',
  'requests without a match': '/requests?code=nothing_has_this',
  request: `/requests/${request}`,
  'unknown request': '/requests/req_01KG9Q2T8Q1A2B3C4D5E6F7G8J',
  settings: '/settings',
  deposits: '/settings/deposits',
  'payment page': '/settings/payment-page',
  users: '/settings/users',
  'audit log': '/settings/audit-log',
  account: '/settings/account',
  sessions: '/settings/sessions',
  'unknown page': '/nowhere',
});

/** The pages that show something of the API. */
export const pagesWithData = (full: FullShop): Record<string, string> => {
  const { 'unknown page': _, 'report of too many days': __, ...pages } = pagesOf(full);
  return pages;
};

const QUIET = `new Promise((done) => {
  const look = () => {
    const last = Math.max(...performance.getEntriesByType('resource').map(({ responseEnd }) => responseEnd));
    const loads = document.querySelector('[role=status][aria-label=Loading]');
    if (!loads && performance.now() - last > 700) done();
    else setTimeout(look, 100);
  };
  look();
})`;

/** Waits until a page with a heading has all its answers. */
export const answered = async (page: Page): Promise<void> => void (await page.evaluate(QUIET));

/** Waits until a page inside the frame of the dashboard has all its answers. */
export const settled = async (page: Page): Promise<void> => {
  await page.locator('#content').getByRole('heading', { level: 1 }).waitFor();
  await answered(page);
};

const EXPECTED = /ord_01KG9Q1S5T6V7W8X9Y0Z|ERR_ABORTED|document's frame is sandboxed/;

/** Without what a page expects: an id of nothing, requests that end with a page, a preview without scripts. */
export const unexpected = (faults: readonly string[]): string[] => faults.filter((fault) => !EXPECTED.test(fault));

type Role = Parameters<typeof createUser>[2]['role'];

/** Opens the dashboard as a new user of the shop, who signs in by the link of the invitation. */
export const signInAs = async (
  browser: Browser,
  stack: StackFiles,
  { shop, role, ...options }: BrowserContextOptions & { readonly shop: Shop; readonly role: Role },
): Promise<Visit> => {
  const email = `${role}-${randomUUID()}@shop.example`;
  const path = await createUser(stack, shop.id, { email, name: `The ${role}`, role });
  const visited = await visit(browser, `${stack.baseUrl}${path}`, { ...DESKTOP, ...options });
  await visited.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await visited.page.getByRole('button', { name: 'Later' }).click();
  await visited.page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  return visited;
};

/** As many tabs as work at once: pages wait more than they compute. */
const TABS = 4;
const PATIENCE_MS = 60_000;

/** Does the same with each page, in tabs of one user. Returns what is wrong with each, with its name. */
export const onEachPage = async (
  { page: first }: Visit,
  pages: Readonly<Record<string, string>>,
  work: (page: Page, path: string, name: string) => Promise<readonly string[]>,
): Promise<string[]> => {
  const left = Object.entries(pages);
  const faults: string[] = [];
  const workInTab = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [name, path] = next;
      const page = await first.context().newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      page.on('pageerror', ({ message }) => faults.push(`${name}: script: ${message}`));
      const found = await work(page, path, name).catch((error: Error) => [error.message]);
      faults.push(...found.map((fault) => `${name}: ${fault}`));
      await page.close();
    }
  };
  await Promise.all(Array.from({ length: TABS }, workInTab));
  return faults;
};
