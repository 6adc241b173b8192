import { PLAIN_HTTP_HOST, violationsOn, visit } from '../harness/browser.ts';
import { onPaymentPage, openSale, SLOW, withBrowser } from './sale.ts';

const EXPRESS = { capabilities: { express_checkout: true } };
const RETURN = 'https://shop.example/thanks?cart=7';
const CANCEL = 'https://shop.example/cart';
/** A violet square of 8 pixels. */
const LOGO =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAJElEQVR4AXXBAQEAIAyAME4ugxnRWBY429zz2EiQIEGCBAkSPiyvAYyBaU4VAAAAAElFTkSuQmCC';

onPaymentPage('the page of a shop', () => {
  const stack = withBrowser();

  test(
    'leads to the cancel URL before the payment, and to the return URL by itself after it',
    async () => {
      const sale = await openSale(stack.evm, { ...EXPRESS, return_url: RETURN, cancel_url: CANCEL });
      const { page, close } = await visit(stack.browser, sale.url, {
        prepare: (each) => each.route('https://shop.example/**', (route) => route.fulfill({ body: 'the shop' })),
      });
      const back = page.getByRole('link', { name: /^Back to/ });
      expect(await back.getAttribute('href')).toMatch(/^https:\/\/shop\.example\/cart\?/);
      await sale.pay();
      await sale.confirm();
      await page.waitForURL(/shop\.example\/thanks/, { timeout: 60_000 });
      const query = Object.fromEntries(new URL(page.url()).searchParams);
      expect(query).toEqual({ cart: '7', order_id: sale.order.id, status: 'paid' });
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Paid' }).waitFor();
      await back.waitFor();
      expect(await page.locator('[data-redirect]').isVisible()).toBe(false);
      await close();
    },
    SLOW,
  );

  test(
    'has its name, its logo and its accent, and stays readable',
    async () => {
      const { api } = stack.evm.desk.shop;
      const body = { display_name: 'Café Colibrí', accent_color: '#ffd500', logo: LOGO };
      const answer = await api.send('PUT', '/v1/merchants/me/payment-page', { body });
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
      const sale = await openSale(stack.evm, EXPRESS);
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, faults, close } = await visit(stack.browser, sale.url, { colorScheme });
        expect(await page.locator('header').innerText()).toContain('Café Colibrí');
        expect(await page.locator('img.logo').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(8);
        expect([await violationsOn(page), faults]).toEqual([[], []]);
        await close();
      }
    },
    SLOW,
  );

  test(
    'cannot be led elsewhere by a site that opened it in a window',
    async () => {
      const sale = await openSale(stack.evm, EXPRESS);
      const context = await stack.browser.newContext();
      await context.route('http://shop.example/**', (route) => route.fulfill({ body: 'the shop' }));
      const shop = await context.newPage();
      await shop.goto('http://shop.example/');
      const opened = context.waitForEvent('page');
      await shop.evaluate(`window.opened = open(${JSON.stringify(sale.url)})`);
      const page = await opened;
      await page.locator('main').waitFor();
      await shop.evaluate(`window.opened.location = 'http://shop.example/copy'`);
      await page.locator('.qr').first().waitFor();
      expect([await shop.evaluate('window.opened.closed'), page.url()]).toEqual([true, sale.url]);
      await context.close();
    },
    SLOW,
  );

  test(
    'a sandbox pays by its buttons, with and without JavaScript, also over plain http',
    async () => {
      for (const javaScriptEnabled of [true, false]) {
        const sale = await openSale(stack.evm, EXPRESS);
        const url = new URL(sale.url);
        // There, browsers send no `Sec-Fetch-Site`.
        if (javaScriptEnabled) url.hostname = PLAIN_HTTP_HOST;
        const { page, close } = await visit(stack.browser, url.href, { javaScriptEnabled });
        await page.getByText('Sandbox. No real money.').waitFor();
        await page.getByRole('button', { name: 'Pay a part' }).click();
        await page.getByRole('button', { name: 'Confirm the payment' }).click();
        await page.getByRole('heading', { level: 1, name: 'Part of your payment has arrived' }).waitFor();
        await page.getByRole('button', { name: 'Pay all' }).click();
        await page.getByRole('button', { name: 'Confirm the payment' }).click();
        await page.getByRole('heading', { level: 1, name: 'Paid' }).waitFor();
        await close();
      }
    },
    SLOW,
  );

  test(
    'an expired order of a sandbox takes late money by its button',
    async () => {
      const sale = await openSale(stack.evm);
      await sale.advance(61);
      await sale.until(({ state }) => state === 'expired');
      const { page, close } = await visit(stack.browser, sale.url);
      await page.getByRole('button', { name: 'Pay too late' }).click();
      await page.getByText('Your money arrived after the deadline.').waitFor();
      await close();
    },
    SLOW,
  );
});
