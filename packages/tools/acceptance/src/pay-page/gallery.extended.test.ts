import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onPaymentPage, SLOW, withBrowser } from './open-stack.ts';
import { qrCodeOn } from './qr-code.ts';
import { openSale } from './sale.ts';
import { STATES } from './states.ts';
import { DESKTOP, PHONE, sidewaysOn, violationsOn, visit } from './visit.ts';

/** Screenshots of every state, for people to look at. */
const FOLDER =
  process.env.PAY_PAGE_SCREENSHOTS ?? fileURLToPath(new URL('../../../../../screenshots/pay-page/', import.meta.url));
// The texts are longer in these languages, and the screen is the smallest that people still use.
const SMALL_PHONE = { ...PHONE, viewport: { width: 320, height: 568 } };
const SCREENS = [
  { shot: 'phone-light', ...PHONE, colorScheme: 'light' },
  { shot: 'phone-dark', ...PHONE, colorScheme: 'dark' },
  { shot: 'desktop-light', ...DESKTOP, colorScheme: 'light' },
  { shot: 'desktop-dark', ...DESKTOP, colorScheme: 'dark' },
  { shot: 'phone-es', ...SMALL_PHONE, colorScheme: 'light', locale: 'es-MX' },
  { shot: 'phone-pt', ...SMALL_PHONE, colorScheme: 'dark', locale: 'pt-BR' },
] as const;

onPaymentPage('each state of the payment page', () => {
  const stack = withBrowser();
  beforeAll(() => void mkdirSync(FOLDER, { recursive: true }));

  test.each(STATES.map((state) => [state.name, state] as const))(
    '%s: nothing fails, axe finds nothing, and its QR code is the address of the API',
    async (name, { order, reach, shown }) => {
      const sale = await openSale(stack.evm, order);
      await reach?.(sale);
      const { ways } = await sale.until(shown);
      for (const { shot, ...options } of SCREENS) {
        const { page, faults, close } = await visit(stack.browser, sale.url, options);
        await page.screenshot({ path: join(FOLDER, `${name}-${shot}.png`), fullPage: true });
        const hasCode = (await page.locator('.qr').count()) > 0;
        const found = {
          faults,
          violations: await violationsOn(page),
          sideways: await sidewaysOn(page),
          code: hasCode && (await qrCodeOn(page)),
        };
        const code = hasCode && ways[0]!.address;
        expect({ shot, ...found }).toEqual({ shot, faults: [], violations: [], sideways: 0, code });
        await close();
      }
    },
    SLOW,
  );
});
