import { randomUUID } from 'node:crypto';
import type { Browser, CDPSession } from 'playwright-core';
import { createUser, openShop } from '../harness/merchants.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { canTestInChromium, DESKTOP, startChromium, violationsOn, visit } from '../harness/browser.ts';

const onDashboard = canTestInChromium('tests of passkeys') ? describe : describe.skip;
const SLOW = 300_000;
const ACCOUNT = '/dashboard/settings/account';

onDashboard('passkeys on the dashboard', () => {
  let stack: Stack;
  let browser: Browser;
  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), startChromium()]);
  }, SLOW);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  }, SLOW);

  /** Passkeys need a host name. */
  const addressOf = (path: string) => stack.baseUrl.replace('127.0.0.1', 'localhost') + path;

  test(
    'a user who came by a link adds a passkey, signs out, and signs in with it alone',
    async () => {
      const shop = await openShop(stack);
      const link = await createUser(stack, shop.id, {
        email: `${randomUUID()}@shop.example`,
        name: null,
        role: 'owner',
      });
      const { page, faults, close } = await visit(browser, addressOf(link), DESKTOP);
      const devtools = await page.context().newCDPSession(page);
      await addAuthenticator(devtools);

      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('button', { name: 'Later' }).click();
      await page.waitForURL(/\/dashboard\/?$/);
      await page.goto(addressOf(ACCOUNT));
      const passkeys = page.getByRole('region', { name: 'Passkeys' });
      await passkeys.getByLabel('Name').fill('Laptop');
      await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
      await passkeys.getByRole('cell', { name: 'Laptop' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);

      await page.context().clearCookies();
      await page.goto(addressOf('/dashboard/sign-in'));
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.waitForURL(/\/dashboard\/?$/);
      const { items } = await page.evaluate<{ items: { method: string; is_current: boolean }[] }>(
        `fetch('/v1/sessions').then((answer) => answer.json())`,
      );
      expect(items.find((session) => session.is_current)?.method).toBe('passkey');

      // The sign-in page asks whether there is a session.
      expect(faults.filter((fault) => !fault.includes('401') && !fault.includes('ERR_ABORTED'))).toEqual([]);

      await page.goto(addressOf(ACCOUNT));
      await passkeys.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await passkeys.getByText('You have no passkeys yet.').waitFor();
      await page.context().clearCookies();
      await page.goto(addressOf('/dashboard/sign-in'));
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await page.getByText('This passkey is not known here.').waitFor();
      await shop.api.close();
      await close();
    },
    SLOW,
  );

  test(
    'the page on an IP address offers none',
    async () => {
      const { page, close } = await visit(browser, `${stack.baseUrl}/dashboard/sign-in`, DESKTOP);
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
      await close();
    },
    SLOW,
  );
});

/** A device of the browser that keeps passkeys and unlocks them without a person. */
const addAuthenticator = async (devtools: CDPSession): Promise<void> => {
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
};
