import { item } from '../harness/order-bodies.ts';
import { onPaymentPage, SLOW, withBrowser } from './open-stack.ts';
import { qrCodeOn } from './qr-code.ts';
import { openSale } from './sale.ts';
import { DESKTOP, sidewaysOn, violationsOn, visit } from './visit.ts';

const EXPRESS = { capabilities: { express_checkout: true } };
/** The narrowest screen that WCAG asks for. */
const NARROW = { viewport: { width: 320, height: 640 } };
const HEADINGS = { 'en-US': 'Waiting for your payment', 'es-MX': /pago/i, 'pt-BR': /pagamento/i };

onPaymentPage('a payer', () => {
  const stack = withBrowser();

  test(
    'without JavaScript sees the payment when the page reloads itself',
    async () => {
      const sale = await openSale(stack.evm, EXPRESS);
      const { page, faults, close } = await visit(stack.browser, sale.url, { javaScriptEnabled: false });
      expect(await qrCodeOn(page)).toBe((await sale.checkout()).ways[0]!.payment_uri);
      await page.getByText(/The price holds until .*\sUTC\.$/).waitFor();
      await sale.pay();
      await page.getByRole('heading', { name: 'Your payment was seen' }).waitFor();
      expect(faults).toEqual([]);
      await close();
    },
    SLOW,
  );

  test(
    'reads the deadline in the time zone of the browser',
    async () => {
      const sale = await openSale(stack.evm, EXPRESS);
      const { page, close } = await visit(stack.browser, sale.url, { timezoneId: 'Asia/Kathmandu' });
      await page.getByText(/The price holds until .*\sGMT\+5:45\.$/).waitFor();
      await close();
    },
    SLOW,
  );

  test(
    'gets by keyboard from the order to the amount and the address, and always sees the focus',
    async () => {
      const sale = await openSale(stack.evm);
      const { page, close } = await visit(stack.browser, sale.url, DESKTOP);
      const pressUntil = async (name: RegExp) => {
        for (let presses = 0; presses < 30; presses += 1) {
          await page.keyboard.press('Tab');
          const focus = page.locator(':focus');
          expect(await focus.evaluate((element) => getComputedStyle(element).outlineStyle)).not.toBe('none');
          if (name.test(await focus.innerText())) return;
        }
        throw new Error(`no focus on ${name}`);
      };
      await pressUntil(/pay with/i);
      await page.keyboard.press('Enter');
      await page.getByText('Send exactly').waitFor();
      await pressUntil(/copy amount/i);
      await pressUntil(/copy address/i);
      await close();
    },
    SLOW,
  );

  test(
    'reads the page in the language of the browser, or another one by a link',
    async () => {
      const sale = await openSale(stack.evm, EXPRESS);
      for (const [locale, heading] of Object.entries(HEADINGS)) {
        const { page, faults, close } = await visit(stack.browser, sale.url, { locale, ...NARROW });
        expect(await page.locator('html').getAttribute('lang')).toBe(locale.slice(0, 2));
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
        expect([await sidewaysOn(page), await violationsOn(page), faults]).toEqual([0, [], []]);
        await page.getByRole('link', { name: 'English' }).click();
        await page.getByRole('heading', { level: 1, name: HEADINGS['en-US'] }).waitFor();
        await close();
      }
    },
    SLOW,
  );

  test(
    'sees names as text, whatever a merchant writes into them',
    async () => {
      const names = [
        '<script>document.title = "taken"</script><img src=x onerror=alert(1)>',
        `\u202eesrever\u202c ${'\u200f'.repeat(20)}`,
        'W'.repeat(256),
        '👩‍👩‍👧‍👦'.repeat(20),
        '${1}{{2}}</title></main>&lt;',
      ];
      const sale = await openSale(stack.evm, {
        items: names.map((name) => item('1', 'USDC', { name, modifiers: [item('1', 'USDC', { name })] })),
      });
      const { page, faults, close } = await visit(stack.browser, sale.url, NARROW);
      const text = await page.locator('main').evaluate((main) => main.textContent);
      for (const name of names) expect(text).toContain(name);
      expect([await page.title(), await page.locator('main img, main script').count()]).toEqual([
        expect.stringContaining('Ada Test'),
        0,
      ]);
      expect([await sidewaysOn(page), await violationsOn(page), faults]).toEqual([0, [], []]);
      await close();
    },
    SLOW,
  );

  test(
    'who asked for less motion sees none',
    async () => {
      const sale = await openSale(stack.evm, EXPRESS);
      const { page, close } = await visit(stack.browser, sale.url, { reducedMotion: 'reduce' });
      expect(await page.evaluate('document.getAnimations().length')).toBe(0);
      await close();
    },
    SLOW,
  );

  test(
    'cannot tell a deleted order from one that never was',
    async () => {
      const sale = await openSale(stack.evm);
      await stack.evm.desk.shop.api.deleteOrder(sale.order.id);
      const texts = [];
      for (const url of [sale.url, sale.url.replace(/\w{26}$/, 'A'.repeat(26))]) {
        const { page, close } = await visit(stack.browser, url);
        expect(await violationsOn(page)).toEqual([]);
        texts.push(await page.content());
        await close();
      }
      expect(texts[0]).toContain('No payment found');
      expect(texts[0]).toBe(texts[1]);
    },
    SLOW,
  );
});
