import { item } from '../harness/order-bodies.ts';
import { DESKTOP, qrCodeOn, sidewaysOn, tornWordsOn, violationsOn, visit } from '../harness/browser.ts';
import { onPaymentPage, openSale, SLOW, withBrowser } from './sale.ts';

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
      const [way] = (await sale.checkout()).ways;
      expect(await qrCodeOn(page)).toBe(way!.address);
      await page.getByText('With amount').click();
      expect(await qrCodeOn(page)).toBe(way!.payment_uri);
      await page.getByText(/The price holds until .*\sUTC\.$/).waitFor();
      await sale.pay();
      await page.getByRole('heading', { name: 'Your payment was seen' }).waitFor();
      expect(faults).toEqual([]);
      await close();
    },
    SLOW,
  );

  test.each([true, false])(
    'pastes the whole address, however it is selected: with JavaScript %p',
    async (javaScriptEnabled) => {
      const sale = await openSale(stack.evm, EXPRESS);
      const { page, close } = await visit(stack.browser, sale.url, { javaScriptEnabled });
      const { address } = (await sale.checkout()).ways[0]!;
      const shown = page.locator('code.address');
      const selections = {
        'a double click': () => shown.dblclick({ position: { x: 20, y: 5 } }),
        'a drag over its lines': async () => {
          await shown.scrollIntoViewIfNeeded();
          const box = (await shown.boundingBox())!;
          await page.mouse.move(box.x + 1, box.y + 5);
          await page.mouse.down();
          await page.mouse.move(box.x + box.width / 2, box.y + box.height - 5, { steps: 10 });
          await page.mouse.up();
        },
      };
      const field = await page.context().newPage();
      for (const [name, select] of Object.entries(selections)) {
        await page.bringToFront();
        await page.locator('h1').click();
        await select();
        await page.keyboard.press('ControlOrMeta+C');
        await field.bringToFront();
        await field.setContent('<textarea autofocus></textarea>');
        await field.locator('textarea').focus();
        await field.keyboard.press('ControlOrMeta+V');
        expect([name, await field.locator('textarea').inputValue()]).toEqual([name, address]);
      }
      await close();
    },
    SLOW,
  );

  test(
    'scans the address first, and from then on the code that their wallet reads',
    async () => {
      const [sale, next] = [await openSale(stack.evm, EXPRESS), await openSale(stack.evm, EXPRESS)];
      const { page, close } = await visit(stack.browser, sale.url);
      expect(await qrCodeOn(page)).toBe((await sale.checkout()).ways[0]!.address);
      await page.getByText('With amount').click();
      await page.goto(next.url);
      await page.getByRole('radio', { name: 'With amount', checked: true }).waitFor();
      expect(await qrCodeOn(page)).toBe((await next.checkout()).ways[0]!.payment_uri);
      await close();
    },
    SLOW,
  );

  test.each([
    ['es-MX', 'waiting'],
    ['pt-BR', 'waiting'],
    ['es-MX', 'paid, and a part returned'],
    ['pt-BR', 'paid, and a part returned'],
  ])(
    'who doubles the size of text loses nothing: %s, %s',
    async (locale, state) => {
      const sale = await openSale(stack.evm, { ...EXPRESS, return_url: 'https://shop.example/thanks' });
      if (state !== 'waiting') {
        await sale.pay();
        await sale.confirm();
        await sale.until(({ state }) => state === 'paid');
        await sale.refund('1.000000');
        await sale.until(({ returned }) => Number(returned) > 0);
      }
      const { page, close } = await visit(stack.browser, sale.url, { locale, viewport: { width: 360, height: 800 } });
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`);
      expect([await sidewaysOn(page), await tornWordsOn(page)]).toEqual([0, []]);
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
