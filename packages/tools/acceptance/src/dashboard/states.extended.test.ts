import { randomUUID } from 'node:crypto';
import type { Route } from 'playwright-core';
import { createUser } from '../harness/merchants.ts';
import { canTestInChromium, DESKTOP, violationsOn, visit } from '../harness/browser.ts';
import { onEachPage, pagesWithData, settled, signInAs, withFullShop } from './pages.ts';

const SLOW = 400_000;
const PASSWORD = 'correct horse battery';
const inChromium = canTestInChromium('tests of loading and failing pages') ? describe : describe.skip;

/** The requests of a page, without the one that says who is there. */
const isData = ({ pathname }: URL): boolean =>
  /^\/(v1|debug)\//.test(pathname) && !pathname.startsWith('/v1/sessions/current');

const answer =
  (status: number, body: object, headers: Record<string, string> = {}) =>
  (route: Route) =>
    route.fulfill({ status, headers, json: { statusCode: status, request_id: 'req_1', ...body } });

const FAILURES = [
  {
    what: 'an error of the gateway',
    fail: answer(500, { code: 'internal_error', message: 'Internal server error' }),
    says: /The gateway failed/,
  },
  {
    what: 'too much work for the gateway',
    fail: answer(503, { code: 'overloaded', message: 'overloaded' }, { 'retry-after': '2' }),
    says: /too much to do.*Wait 2 seconds/s,
  },
  {
    what: 'too many requests',
    fail: answer(429, { code: 'rate_limited', message: 'slow down' }, { 'retry-after': '45' }),
    says: /too many requests.*Wait 45 seconds/s,
  },
  {
    what: 'a lost network',
    fail: (route: Route) => route.abort('internetdisconnected'),
    says: /does not answer. Check your connection/,
  },
];

/** How far what is shown moved without a press of anything, as browsers measure it. More than 0.25 counts as poor. On a
 *  busy machine the answers of a page come one by one, so less than that is no fault here. */
const SHIFT = `new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done(sum), 200);
})`;
const STEADY = 0.25;

/** At once, because each answer may take other buttons away. */
const PRESS_ALL_RETRIES = `(() => {
  for (const button of document.querySelectorAll('button')) if (button.innerText === 'Try again') button.click();
})()`;

inChromium('pages of the dashboard that load or fail', () => {
  const opened = withFullShop(SLOW);

  const addressOf = (path: string) => `${opened.stack.baseUrl}/dashboard${path}`;
  const pages = () => pagesWithData(opened.full);
  const signIn = () => signInAs(opened.browser, opened.stack, { shop: opened.full.shop, role: 'owner', ...DESKTOP });

  test(
    'each page says that it loads, and does not jump when its answers come',
    async () => {
      const visited = await signIn();
      const faults = await onEachPage(visited, pages(), async (page, path) => {
        let release = () => {};
        const released = new Promise<void>((done) => (release = done));
        await page.route(isData, async (route) => {
          await released;
          await route.continue();
        });
        await page.goto(addressOf(path));
        await page.getByRole('status', { name: 'Loading' }).first().waitFor();
        const violations = await violationsOn(page);
        release();
        await settled(page);
        const shift = await page.evaluate<number>(SHIFT);
        return [...violations, ...(shift > STEADY ? [`what is shown moves by ${shift.toFixed(3)}`] : [])];
      });
      expect(faults).toEqual([]);
      await visited.close();
    },
    SLOW,
  );

  test.each(FAILURES)(
    'each page says $what, and loads when it is tried again',
    async ({ fail, says }) => {
      const visited = await signIn();
      const faults = await onEachPage(visited, pages(), async (page, path) => {
        await page.route(isData, fail);
        await page.goto(addressOf(path));
        const alerts = page.getByRole('alert').filter({ hasText: says });
        await alerts.first().waitFor();
        const violations = await violationsOn(page);
        await page.unroute(isData);
        // After too many requests, a page asks nothing on its own until the wait is over: the buttons do it.
        await page.evaluate(PRESS_ALL_RETRIES);
        await alerts.first().waitFor({ state: 'detached' });
        await settled(page);
        const left = await page.getByRole('alert').allInnerTexts();
        return [...violations, ...left.map((text) => `still says: ${text}`)];
      });
      expect(faults).toEqual([]);
      await visited.close();
    },
    SLOW,
  );

  test(
    'a request that fails takes no other part of its page away',
    async () => {
      const visited = await signIn();
      const { 'unknown order': _, ...known } = pages();
      const faults = await onEachPage(visited, known, async (page, path) => {
        const askedFor = async (failing?: string) => {
          const asked = new Set<string>();
          await page.route(isData, async (route) => {
            const { pathname, search } = new URL(route.request().url());
            asked.add(pathname + search);
            await (pathname + search === failing ? route.abort('connectionreset') : route.continue());
          });
          await page.goto(addressOf(path));
          await settled(page);
          return asked;
        };
        const whole = await askedFor();
        const found = whole.size === 0 ? ['asks for nothing'] : [];
        for (const failing of [...whole].filter((each) => !isWhole(each, path))) {
          await page.unroute(isData);
          const left = await askedFor(failing);
          const missing = [...whole].filter((each) => !left.has(each) && !GIVES_NAMES.test(each));
          found.push(...missing.map((each) => `${failing} takes ${each} away`));
          if (GIVES_NAMES.test(failing)) continue;
          await page.getByRole('alert').getByText('does not answer').first().waitFor();
          const alerts = await page.getByRole('alert').count();
          if (alerts !== 1) found.push(`${alerts} parts fail without ${failing}`);
        }
        return found;
      });
      expect(faults).toEqual([]);
      await visited.close();
    },
    SLOW,
  );

  test(
    'each page names the permission that is missing',
    async () => {
      const visited = await signIn();
      const refuse = answer(403, {
        code: 'insufficient_scope',
        message: 'the role viewer needs the scope things:self:read',
        required_scope: 'things:self:read',
      });
      const faults = await onEachPage(visited, pages(), async (page, path) => {
        await page.route(isData, refuse);
        await page.goto(addressOf(path));
        await page.getByText('Your role does not allow this: it needs things:self:read.').first().waitFor();
        return violationsOn(page);
      });
      expect(faults).toEqual([]);
      await visited.close();
    },
    SLOW,
  );

  test(
    'each page leads to the sign-in page when the session ends',
    async () => {
      const visited = await signIn();
      const faults = await onEachPage(visited, pages(), async (page, path) => {
        await page.goto(addressOf(path));
        await settled(page);
        const next = new URL(page.url()).pathname.replace('/dashboard', '') || '/';
        await page.route(({ pathname }) => pathname.startsWith('/v1/'), answer(401, { code: 'unauthorized' }));
        // A page that reads nothing anew asks once a minute whether the session goes on.
        await page.waitForURL(({ pathname }) => pathname === '/dashboard/sign-in', { timeout: 90_000 });
        const found = new URL(page.url()).searchParams.get('next') ?? '';
        return found.split('?')[0]!.replace(/(.)\/$/, '$1') === next ? [] : [`leads back to ${found}`];
      });
      expect(faults).toEqual([]);
      await visited.close();
    },
    SLOW,
  );

  test(
    'a user whose session ended comes back to the same address',
    async () => {
      const email = `${randomUUID()}@shop.example`;
      const link = await createUser(opened.stack, opened.full.shop.id, { email, name: null, role: 'owner' });
      const { page, close } = await visit(opened.browser, opened.stack.baseUrl + link, DESKTOP);
      const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
      await press('Sign in');
      await page.getByLabel('New password').fill(PASSWORD);
      await press('Save and go on');
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      const address = addressOf('/orders?status=paid&status=canceled&limit=50');
      await page.goto(address);
      await page.getByRole('table').waitFor();
      await page.context().clearCookies();
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await press('Sign in');
      await page.getByRole('table').waitFor();
      expect(page.url()).toBe(address);
      await close();
    },
    SLOW,
  );

  test(
    'a page that is opened without a network says so, and opens when it is back',
    async () => {
      const { page, close } = await signIn();
      await page.context().setOffline(true);
      await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
      const retry = page.getByRole('button', { name: /Try again|Reload/ }).first();
      await retry.waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.context().setOffline(false);
      await retry.click();
      await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
      await page.getByRole('table').waitFor();
      await close();
    },
    SLOW,
  );

  test.each(FAILURES)(
    'the dashboard itself says $what before it knows who is there',
    async ({ fail, says }) => {
      const { page, close } = await signIn();
      const isSession = ({ pathname }: URL) => pathname === '/v1/sessions/current';
      await page.route(isSession, fail);
      await page.goto(addressOf('/orders'));
      await page.getByRole('alert').filter({ hasText: says }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.unroute(isSession);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('table').waitFor();
      await close();
    },
    SLOW,
  );
});

/** What gives names to ids and choices to filters: without it, a page shows the ids, and is otherwise whole. */
const GIVES_NAMES = /^\/v1\/(api-keys|currencies|users|roles|webhooks|webhooks\/[^/]+)(\?|$)/;

/** Whether a page is about this answer alone, like the page of an order about the order. */
const isWhole = (request: string, path: string): boolean => {
  const name = path.split('?')[0]!.split('/').slice(2).at(-1);
  return name !== undefined && request.split('?')[0]!.endsWith(`/${name}`);
};
