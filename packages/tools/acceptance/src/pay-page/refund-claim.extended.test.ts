import type { Refund, RefundClaim, RefundRequest } from '@cpg/contracts';
import { mineBlocks } from '@cpg/local-chain';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { LOCAL_NETWORK } from '../harness/chains.ts';
import { admin } from '../harness/merchants.ts';
import { until } from '../harness/until.ts';
import { SCREENS, sidewaysOn, takeScreenshot, tornWordsOn, violationsOn, visit } from '../harness/browser.ts';
import { onPaymentPage, openSale, type Sale, SLOW, withBrowser } from './sale.ts';

/** An address of the payer, with its checksum (EIP-55: an example). */
const PAYER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const MISTYPED = PAYER.replace('aAe', 'aae');

const APPLIED = { status: 'paid', payments: [{ status: 'applied' }] } as const;

onPaymentPage('the page on which a payer claims a refund', () => {
  const stack = withBrowser();

  const send = async <T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> => {
    const answer = await stack.evm.desk.shop.api.send(method, path, body && { body });
    if (answer.status >= 400) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body as T;
  };
  const refundNow = (id: string) => send<Refund>('GET', `/v1/refunds/${id}`);

  /** The wallet of the local chain plays the payer and the merchant, who declares it. */
  const declareSender = async (transactionHash: string): Promise<string> => {
    const { from: wallet } = await stack.evm.call<{ from: string }>('eth_getTransactionByHash', transactionHash);
    const declared = ['--network', LOCAL_NETWORK, '--address', wallet];
    await admin(stack.evm.stack, ['refund-addresses', 'add', stack.evm.desk.shop.id, ...declared]);
    return wallet;
  };
  const paidSale = async (): Promise<{ sale: Sale; wallet: string; refundId: string }> => {
    const sale = await openSale(stack.evm);
    const { transactionHash } = await sale.pay();
    await sale.confirm();
    await sale.until(({ state }) => state === 'paid');
    const wallet = await declareSender(transactionHash);
    const [payment] = (await stack.evm.desk.shop.api.order(sale.order.id)).payments;
    await send('POST', `/v1/payments/${payment!.id}/refund`, { settle: 'on_chain', what: 'all' });
    const { items } = await send<{ items: Refund[] }>('GET', `/v1/refunds?payment_id=${payment!.id}`);
    return { sale, wallet, refundId: items[0]!.id };
  };
  const claimOf = (refundId: string, body: object = {}) =>
    send<RefundClaim>('POST', `/v1/refunds/${refundId}/claim`, body);

  /** Sends the money from the wallet of the merchant, and resolves to the hash when the refund is settled. */
  const sendRefund = async (refundId: string, wallet: string): Promise<string> => {
    const { transaction } = await send<RefundRequest>('POST', `/v1/refunds/${refundId}/request`, {});
    const { chainId: _, ...unsigned } = transaction!;
    const hash = await stack.evm.call<string>('eth_sendTransaction', { ...unsigned, from: wallet });
    await mineBlocks(stack.evm.call, 3);
    await until('the refund is settled', async () => (await refundNow(refundId)).status === 'settled');
    return hash;
  };
  /** Ends the link in the read model: nobody waits 30 days. */
  const expire = async (refundId: string) => {
    const client = new pg.Client({ connectionString: stack.evm.stack.databaseUrl });
    await client.connect();
    const set = `update payments.refunds set resource = jsonb_set(resource::jsonb, '{claim_expires_at}', $2) where id = $1`;
    await client.query(set, [refundId, '"2020-01-31T12:00:00.000Z"']).finally(() => client.end());
  };

  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).innerText();
  const enter = async (page: Page, address: string) => {
    await page.getByRole('textbox').fill(address);
    await page.locator('button.primary').click();
    await page.waitForLoadState();
  };

  test(
    'leads by keyboard alone, without JavaScript, from the link to the money',
    async () => {
      const { sale, wallet, refundId } = await paidSale();
      const { claim_url } = await claimOf(refundId);
      const { page, faults, close } = await visit(stack.browser, claim_url, { javaScriptEnabled: false });
      expect(await heading(page)).toBe('Where should your refund go?');
      await enter(page, MISTYPED);
      expect(await page.getByRole('alert').innerText()).toContain('One of the characters is wrong');
      expect(await page.getByRole('textbox').inputValue()).toBe(MISTYPED);
      expect(await page.title()).toMatch(/^Address refused: /);

      await enter(page, PAYER.toLowerCase());
      expect(await page.locator('main').innerText()).toContain('it has no checksum');
      expect(await page.locator('code.address').innerText()).toBe(PAYER);
      await page.getByRole('link', { name: 'Enter another address' }).click();
      expect((await refundNow(refundId)).destination).toBeUndefined();

      // Only keys from here on: the field is the first stop after the languages.
      const untilFocused = async (tag: string) => {
        for (let stops = 0; stops < 12; stops += 1) {
          await page.keyboard.press('Tab');
          if (await page.locator(`${tag}:focus`).count()) return;
        }
        throw new Error(`no key leads to ${tag}`);
      };
      await untilFocused('textarea');
      await page.keyboard.type(PAYER);
      await untilFocused('button');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Is this your address?' }).waitFor();
      await untilFocused('button');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Your address was recorded' }).waitFor();
      expect(page.url()).toBe(claim_url);
      expect(await page.locator('form').count()).toBe(0);
      expect(faults).toEqual([]);

      expect(await refundNow(refundId)).toMatchObject({ status: 'pending', destination: PAYER });
      await until('the merchant hears of the address', async () => {
        const { events } = await stack.evm.desk.hears(sale.order.id, APPLIED);
        return events.includes('payment:refund_claimed');
      });
      const hash = await sendRefund(refundId, wallet);
      await page.reload();
      expect(await heading(page)).toBe('Your refund was sent');
      expect(await page.locator('main').innerText()).toContain(hash);
      await close();
    },
    SLOW,
  );

  test(
    'two tabs record one address, and both show it',
    async () => {
      const { refundId } = await paidSale();
      const { claim_url } = await claimOf(refundId);
      const first = await visit(stack.browser, claim_url);
      const second = await visit(stack.browser, claim_url);
      const other = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
      await enter(first.page, PAYER);
      await enter(second.page, other);
      for (const { page } of [first, second]) {
        await page.locator('button.primary').click();
        await page.getByRole('heading', { name: 'Your address was recorded' }).waitFor();
        expect(await page.locator('code.address').innerText()).toBe(PAYER);
      }
      expect([first.faults, second.faults]).toEqual([[], []]);
      await first.close();
      await second.close();
    },
    SLOW,
  );

  test(
    'the payment page shows the link if the merchant says so, and a canceled refund takes no address',
    async () => {
      const { sale, refundId } = await paidSale();
      await claimOf(refundId);
      expect((await sale.checkout()).refund_claims).toEqual([]);
      await claimOf(refundId, { show_on_page: true });
      const { page, faults, close } = await visit(stack.browser, sale.url);
      expect(await violationsOn(page)).toEqual([]);
      await takeScreenshot(page, 'claim-offered-phone-light');
      await page.getByRole('link', { name: 'Enter an address for the refund' }).click();
      await enter(page, PAYER);
      expect(await heading(page)).toBe('Is this your address?');
      await send('POST', `/v1/refunds/${refundId}/cancel`);
      await page.locator('button.primary').click();
      await page.getByRole('heading', { name: 'This refund was canceled' }).waitFor();
      expect((await sale.checkout()).refund_claims).toEqual([]);
      expect(faults).toEqual([]);
      await close();
    },
    SLOW,
  );

  test(
    'the payment page says how a shown refund relates to what is due back, and a replaced link asks for the newest',
    async () => {
      const sale = await openSale(stack.evm);
      const { transactionHash } = await sale.pay(150n);
      await declareSender(transactionHash);
      await sale.confirm();
      await sale.until(({ due_back }) => Number(due_back) > 0);
      const [payment] = (await stack.evm.desk.shop.api.order(sale.order.id)).payments;
      await send('POST', `/v1/payments/${payment!.id}/refund`, { settle: 'on_chain', amount: '6' });
      const { items } = await send<{ items: Refund[] }>('GET', `/v1/refunds?payment_id=${payment!.id}`);
      const replaced = await claimOf(items[0]!.id);
      await claimOf(items[0]!.id, { show_on_page: true });
      expect((await sale.checkout()).refund_claims).toMatchObject([{ amount: '6.000000', of_due_back: '4.945875' }]);
      for (const { shot, ...options } of SCREENS) {
        for (const [name, url] of [
          ['claim-of-more-than-due', sale.url],
          ['claim-replaced', replaced.claim_url],
        ] as const) {
          const { page, close } = await visit(stack.browser, url, options);
          await takeScreenshot(page, `${name}-${shot}`);
          const found = { violations: await violationsOn(page), sideways: await sidewaysOn(page) };
          expect({ shot, name, ...found }).toEqual({ shot, name, violations: [], sideways: 0 });
          await close();
        }
      }
    },
    SLOW,
  );

  const confirm = async (page: Page) => {
    await enter(page, PAYER);
    await page.locator('button.primary').click();
    await page.locator('.status.good').waitFor();
  };
  interface Step {
    /** What happens before the payer opens the link. */
    readonly before?: (refundId: string) => Promise<unknown>;
    readonly reach?: (page: Page) => Promise<unknown>;
  }
  const STEPS: Readonly<Record<string, Step>> = {
    'claim-enter': {},
    'claim-refused': { reach: (page) => enter(page, MISTYPED) },
    'claim-confirm': { reach: (page) => enter(page, PAYER) },
    'claim-confirm-without-checksum': { reach: (page) => enter(page, PAYER.toLowerCase()) },
    'claim-confirmed': { reach: async (page) => ((await page.locator('form').count()) ? confirm(page) : undefined) },
    'claim-canceled': { before: (refundId) => send('POST', `/v1/refunds/${refundId}/cancel`) },
    'claim-expired': { before: expire },
  };

  test.each(Object.entries(STEPS))(
    '%s: nothing fails, axe finds nothing, and everything fits',
    async (name, { before, reach }) => {
      const { refundId } = await paidSale();
      const { claim_url } = await claimOf(refundId);
      await before?.(refundId);
      for (const { shot, ...options } of SCREENS) {
        const { page, faults, close } = await visit(stack.browser, claim_url, options);
        await reach?.(page);
        await takeScreenshot(page, `${name}-${shot}`);
        const found = {
          faults,
          violations: await violationsOn(page),
          sideways: await sidewaysOn(page),
          torn: await tornWordsOn(page),
        };
        expect({ shot, ...found }).toEqual({ shot, faults: [], violations: [], sideways: 0, torn: [] });
        await close();
      }
    },
    SLOW,
  );
});
