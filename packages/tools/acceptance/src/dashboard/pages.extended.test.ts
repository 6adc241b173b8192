import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { admin, createUser, openShop } from '../harness/merchants.ts';
import {
  canTestInChromium,
  DESKTOP,
  PLAIN_HTTP_HOST,
  sidewaysOn,
  SCREENS,
  takeScreenshot,
  violationsOn,
  visit,
} from '../harness/browser.ts';
import { answered, pagesOf, settled, signInAs, unexpected, withFullShop } from './pages.ts';

const SLOW = 240_000;
const inChromium = canTestInChromium('tests of the dashboard in a browser') ? describe : describe.skip;

inChromium('the pages of the dashboard', () => {
  const opened = withFullShop(SLOW);

  const open = async (page: Page, path: string) => {
    await page.goto(`${opened.stack.baseUrl}/dashboard${path}`);
    // The page for an unknown address has no frame.
    await page.getByRole('heading', { level: 1 }).waitFor();
    await answered(page);
  };

  describe.each(SCREENS)('on $shot', ({ shot, ...screen }) => {
    test(
      'each page can be read by everybody, fits the screen, and takes no text for HTML',
      async () => {
        // The test signs in by English words.
        const { shop } = opened.full;
        const signedIn = await signInAs(opened.browser, opened.stack, { shop, role: 'owner', locale: 'en-US' });
        const storageState = await signedIn.page.context().storageState();
        await signedIn.close();
        const visited = await visit(opened.browser, `${opened.stack.baseUrl}/dashboard`, { ...screen, storageState });
        const { page } = visited;
        const faults = [];
        for (const [name, path] of Object.entries(pagesOf(opened.full))) {
          await open(page, path);
          await takeScreenshot(page, `dashboard-${name}-${shot}`);
          faults.push(...(await violationsOn(page)).map((violation) => `${name}: ${violation}`));
          const sideways = await sidewaysOn(page);
          if (sideways > 0) faults.push(`${name}: ${sideways} px wider than the screen`);
          if (await page.evaluate('window.hacked')) faults.push(`${name}: runs a text of a merchant`);
        }
        faults.push(...unexpected(visited.faults));
        expect(faults).toEqual([]);
        await visited.close();
      },
      SLOW,
    );
  });

  test(
    'each page of a new shop says that it is empty, and what to do',
    async () => {
      const shop = await openShop(opened.stack);
      const { page, faults, close } = await signInAs(opened.browser, opened.stack, { shop, role: 'owner', ...DESKTOP });
      for (const path of ['/orders', '/payments', '/refunds', '/reports', '/webhooks', '/deliveries']) {
        await open(page, path);
        expect(await page.getByRole('table').count()).toBe(0);
        expect(await page.getByRole('main').innerText()).toMatch(/\bno\b|nothing|yet/i);
      }
      expect(unexpected(faults)).toEqual([]);
      await close();
    },
    SLOW,
  );

  test(
    'payments are filtered by the time that a person chooses, and the address keeps it',
    async () => {
      const { page, faults, close } = await signInAs(opened.browser, opened.stack, {
        shop: opened.full.shop,
        role: 'owner',
        ...DESKTOP,
        locale: 'en-US',
      });
      await open(page, '/payments');
      await page.getByLabel('From').fill('2026-01-01');
      await page.waitForURL(/from_date=/);
      await page.getByLabel('Time', { exact: true }).selectOption({ label: 'Applied at' });
      await page.waitForURL(/applied_from=/);
      expect(page.url()).not.toMatch(/from_date=/);
      await page.reload();
      await settled(page);
      expect(await page.getByLabel('Time', { exact: true }).inputValue()).toBe('applied');
      expect(await page.getByLabel('From').inputValue()).toBe('2026-01-01');
      await takeScreenshot(page, 'dashboard-payments-applied');
      const statuses = await page.getByRole('table').locator('tbody tr td:nth-child(2)').allInnerTexts();
      expect(statuses.length).toBeGreaterThan(0);
      expect(statuses.filter((status) => !/^(Applied|Refunded)/.test(status))).toEqual([]);
      expect(unexpected(faults)).toEqual([]);
      await close();
    },
    SLOW,
  );

  test.each(['admin', 'developer', 'support', 'viewer'] as const)(
    'no page asks for what a %s may not do',
    async (role) => {
      const visited = await signInAs(opened.browser, opened.stack, { shop: opened.full.shop, role, ...DESKTOP });
      for (const path of Object.values(pagesOf(opened.full))) await open(visited.page, path);
      expect(unexpected(visited.faults)).toEqual([]);
      await visited.close();
    },
    SLOW,
  );

  test(
    'a number of a report leads to the list that makes it up, and the file has what the page shows',
    async () => {
      const { page, close } = await signInAs(opened.browser, opened.stack, {
        shop: opened.full.shop,
        role: 'viewer',
        ...DESKTOP,
      });
      await open(page, '/reports?period=last_7_days&timezone=America%2FMexico_City');
      const days = page.getByRole('region', { name: 'By day and currency' });
      const saved = page.waitForEvent('download');
      await days.getByRole('button', { name: 'CSV of these rows' }).click();
      const [names, row, ...more] = (await readFile(await (await saved).path(), 'utf8')).trim().split('\r\n');
      expect(names).toBe('Day,Currency,Payments,Applied,Fee,Net,Refunds,Given back');
      // The payment that the full shop applied, and its refund of an orphan.
      expect(row).toMatch(/^\d{4}-\d\d-\d\d,USDT,1,(\d+\.\d+),(\d+\.\d+),(\d+\.\d+),1,1\.000000$/);
      expect(more).toEqual([]);
      const [, , , applied = '', fee = '', net = ''] = row!.split(',');
      expect(Number(net)).toBeCloseTo(Number(applied) - Number(fee), 6);

      const link = (index: number) => days.locator('tbody tr').first().getByRole('link').nth(index);
      for (const index of [0, 1, 2, 3, 4, 5]) {
        await link(index).click();
        await page.getByRole('heading', { name: index < 4 ? 'Payments' : 'Refunds', level: 1 }).waitFor();
        await page.getByText('1 of 1', { exact: true }).waitFor();
        await page.goBack();
        await days.waitFor();
      }
      await close();
    },
    SLOW,
  );

  test(
    'an owner changes the profile and hears what is wrong with it, and a viewer only reads it',
    async () => {
      const shop = await openShop(opened.stack);
      const profileOf = async () => (await shop.api.send('GET', '/v1/merchants/me')).body.individual_profile;
      const signIn = (role: 'owner' | 'viewer') =>
        signInAs(opened.browser, opened.stack, { shop, role, viewport: { width: 360, height: 740 } });
      const owner = await signIn('owner');
      await owner.page.goto(`${opened.stack.baseUrl}/dashboard/settings/profile`);
      await owner.page.getByLabel('Email').fill('nobody');
      await owner.page.getByLabel('Last name').fill('Lovelace');
      await owner.page.getByRole('button', { name: 'Save', exact: true }).click();
      await owner.page.getByRole('alert').waitFor();
      expect(await owner.page.getByLabel('Email').getAttribute('aria-invalid')).toBe('true');
      expect(await owner.page.getByLabel('Last name').getAttribute('aria-invalid')).not.toBe('true');
      expect(await violationsOn(owner.page)).toEqual([]);
      expect(await profileOf()).toMatchObject({ last_name: 'Test', email: 'ada@shop.example' });
      // Somebody else changes another field meanwhile.
      await shop.api.send('PATCH', '/v1/merchants/me', { body: { individual_profile: { first_name: 'Augusta' } } });
      await owner.page.getByLabel('Email').fill('new@shop.example');
      await owner.page.getByRole('button', { name: 'Save', exact: true }).click();
      await owner.page.getByText('Saved.').waitFor();
      expect(await owner.page.getByLabel('First name').inputValue()).toBe('Augusta');
      expect(await profileOf()).toEqual({ first_name: 'Augusta', last_name: 'Lovelace', email: 'new@shop.example' });

      const business = {
        ...{ type: 'business', individual_profile: null },
        business_profile: { business_name: 'La Fonda', contact_email: 'new@shop.example' },
      };
      await admin(opened.stack, ['merchants', 'update', shop.id, '--file', '-'], business);
      await open(owner.page, '/settings/profile');
      await owner.page.getByLabel('Street').fill('Calle 1');
      await owner.page.getByRole('button', { name: 'Save', exact: true }).click();
      await owner.page.getByRole('alert').waitFor();
      expect(await owner.page.getByLabel('Postal code').getAttribute('aria-invalid')).toBe('true');
      expect(await violationsOn(owner.page)).toEqual([]);
      expect(await sidewaysOn(owner.page)).toBe(0);
      await owner.close();

      const viewer = await signIn('viewer');
      await viewer.page.goto(`${opened.stack.baseUrl}/dashboard/settings/profile`);
      await viewer.page.getByText('new@shop.example').waitFor();
      await viewer.page.getByText('it needs merchant:self:update').waitFor();
      expect(await viewer.page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0);
      await viewer.close();
    },
    SLOW,
  );

  test(
    'a browser that keeps no cookie is told why',
    async () => {
      const email = `${randomUUID()}@shop.example`;
      const path = await createUser(opened.stack, opened.full.shop.id, { email, name: null, role: 'viewer' });
      const { page, close } = await visit(
        opened.browser,
        opened.stack.baseUrl.replace('127.0.0.1', PLAIN_HTTP_HOST) + path,
        DESKTOP,
      );
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByText('Your browser did not keep the session.').waitFor();
      await close();
    },
    SLOW,
  );
});
