import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { canTestInChromium, sidewaysOn } from '../harness/browser.ts';
import { onEachPage, pagesWithData, settled, signInAs, withFullShop } from './pages.ts';

const SLOW = 600_000;
const WIDTHS = [360, 768, 1440];
const SCHEMES = ['light', 'dark'] as const;
/** A folder for pictures of every page, for people to look at. Without it, there are none. */
const FOLDER = process.env.DASHBOARD_PICTURES;
const inChromium = FOLDER && canTestInChromium('pictures of the dashboard') ? describe : describe.skip;

inChromium('pictures of the dashboard', () => {
  const opened = withFullShop(SLOW, 'Flat white, large');
  beforeAll(() => void mkdirSync(FOLDER!, { recursive: true }));

  const screens = WIDTHS.flatMap((width) => SCHEMES.map((colorScheme) => ({ width, colorScheme })));
  test.each(screens)(
    'each page fits a screen of $width px and is $colorScheme',
    async ({ width, colorScheme }) => {
      const screen = { viewport: { width, height: 900 }, colorScheme };
      const visited = await signInAs(opened.browser, opened.stack, {
        shop: opened.full.shop,
        role: 'owner',
        ...screen,
      });
      const faults = await onEachPage(visited, pagesWithData(opened.full), async (page, path, name) => {
        await page.goto(`${opened.stack.baseUrl}/dashboard${path}`);
        await settled(page);
        await page.screenshot({ path: join(FOLDER!, `${name}, ${width}, ${colorScheme}.png`), fullPage: true });
        const sideways = await sidewaysOn(page);
        return sideways > 0 ? [`${sideways} px wider than the screen`] : [];
      });
      expect(faults).toEqual([]);
      await visited.close();
    },
    SLOW,
  );
});
