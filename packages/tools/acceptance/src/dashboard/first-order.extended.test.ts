import { randomUUID } from 'node:crypto';
import { verify } from '@cpg/sdk/webhooks';
import type { Browser } from 'playwright-core';
import { createUser, openShop } from '../harness/merchants.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { canTestInChromium, DESKTOP, startChromium, visit } from '../harness/browser.ts';

const SLOW = 240_000;
const PASSWORD = 'correct horse battery';
const inChromium = canTestInChromium('tests of a new merchant in a browser') ? describe : describe.skip;

inChromium('a new merchant on the dashboard', () => {
  let stack: Stack;
  let browser: Browser;
  let receiver: Receiver;
  beforeAll(async () => {
    [stack, browser, receiver] = await Promise.all([startStack(), startChromium(), startReceiver()]);
  }, SLOW);
  afterAll(async () => {
    await Promise.all([browser?.close(), receiver?.close(), stack?.stop()]);
  }, SLOW);

  test(
    'comes by an invitation, makes a webhook and an order, sees it paid, and signs in again with the password',
    async () => {
      const shop = await openShop(stack);
      const email = `${randomUUID()}@shop.example`;
      const link = await createUser(stack, shop.id, { email, name: null, role: 'owner' });
      const { page, close } = await visit(browser, stack.baseUrl + link, DESKTOP);
      const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
      const confirm = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
      const open = (path: string) => page.goto(`${stack.baseUrl}/dashboard${path}`);

      await press('Sign in');
      await page.getByLabel('Name').fill('Ada');
      await page.getByLabel('New password').fill(PASSWORD);
      await press('Save and go on');
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();

      await open('/webhooks');
      await press('Create a webhook');
      await page.getByRole('dialog').getByLabel('URL').fill(receiver.urlOf('/first'));
      await confirm('Create a webhook');
      const secret = await page.getByRole('dialog').locator('code').innerText();
      expect(secret).toMatch(/^whsec_/);
      await press('I have stored it');

      await open('/orders/new');
      await page.getByLabel('Your reference').fill('by hand 1');
      await page.getByLabel('What is sold').fill('Flat white');
      await page.getByLabel('Price of one').fill('3.40');
      await page.getByLabel('Currency of the price').selectOption('USDC');
      await press('Create the order');
      await page.getByRole('heading', { name: 'by hand 1', level: 1 }).waitFor();
      await press('Pay as the payer');
      await confirm('Pay as the payer');
      await page.getByText('The order is paid.').waitFor();
      await page.getByText('by Ada').first().waitFor();

      const paid = await until('the webhook of the paid order', () =>
        receiver
          .attemptsOn('/first')
          .map(({ rawBody, headers }) => verify(rawBody, headers, secret))
          .find(({ event }) => event === 'order:paid'),
      );
      expect(paid).toMatchObject({
        object_type: 'order',
        data: { external_reference_id: 'by hand 1', status: 'paid' },
      });

      await page.context().clearCookies();
      await open('/orders?status=paid');
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password', { exact: true }).fill('wrong horse battery');
      await press('Sign in');
      await page.getByText('The email or the password is wrong.').waitFor();
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await press('Sign in');
      await page.getByRole('heading', { name: 'Orders', level: 1 }).waitFor();
      await page.getByRole('link', { name: 'by hand 1' }).waitFor();
      await close();
    },
    SLOW,
  );
});
