import type { Page } from 'playwright-core';
import { canTestInChromium, DESKTOP, violationsOn } from '../harness/browser.ts';
import { onEachPage, pagesWithData, settled, signInAs, unexpected, withFullShop } from './pages.ts';
import { unknownValue, withUnknownValues } from './unknown-values.ts';

const SLOW = 400_000;
const inChromium = canTestInChromium('tests of unknown values on the dashboard') ? describe : describe.skip;

const isData = ({ pathname }: URL): boolean => /^\/(v1|debug)\//.test(pathname);

/** No page names the rails that an order was created for: it shows how the order was paid. The last use of a scope is
 *  shown only of scopes that the key has. */
const NOT_SHOWN = new Set([unknownValue('enable_rails'), unknownValue('scope')]);

inChromium('the dashboard with values that it does not know', () => {
  const opened = withFullShop(SLOW);

  test(
    'each page shows them as they are, and is otherwise whole',
    async () => {
      const visited = await signInAs(opened.browser, opened.stack, {
        shop: opened.full.shop,
        role: 'owner',
        ...DESKTOP,
      });
      const sent = new Set<string>();
      const shown = new Set<string>();
      const faults = await onEachPage(visited, pagesWithData(opened.full), async (page, path) => {
        const open = async () => {
          await page.goto(`${opened.stack.baseUrl}/dashboard${path}`);
          await settled(page);
        };
        await open();
        const known = await holesOf(page);
        const found: string[] = [];
        page.on('console', (message) => {
          if (message.type() === 'error') found.push(`console: ${message.text()} ${message.location().url}`);
        });
        await page.route(isData, async (route) => {
          if (route.request().method() !== 'GET') return route.continue();
          const response = await route.fetch();
          if (!response.headers()['content-type']?.includes('json') || !response.ok())
            return route.fulfill({ response });
          const body = withUnknownValues(new URL(route.request().url()).pathname, await response.json());
          for (const value of valuesIn(JSON.stringify(body))) sent.add(value);
          return route.fulfill({ response, json: body });
        });
        await open();
        for (const value of valuesIn(await page.locator('body').innerText())) shown.add(value);
        const unknown = await holesOf(page);
        if (unknown > known) found.push(`has ${unknown} empty places instead of ${known}`);
        found.push(...(await page.getByRole('alert').allInnerTexts()).map((text) => `says: ${text}`));
        return [...unexpected(found), ...(await violationsOn(page))];
      });
      expect(faults).toEqual([]);
      expect([...sent].filter((value) => !shown.has(value) && !NOT_SHOWN.has(value))).toEqual([]);
      await visited.close();
    },
    SLOW,
  );
});

const valuesIn = (text: string): string[] => text.match(/brand_new_\w+/g) ?? [];

/** Cells, facts and statuses without a word. What may be done depends on a status: those cells do not count. */
const holesOf = (page: Page): Promise<number> =>
  page.evaluate<number>(
    `[...document.querySelectorAll('td:not([data-label="Actions"]), dd, .status, h1, h2')]
      .filter((place) => place.textContent.trim() === '').length`,
  );
