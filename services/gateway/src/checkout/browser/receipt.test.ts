/** @jest-environment jsdom */

import { changeTo, find, news, page, run, timers, useBrowser } from '../../testing/jest-browser-page.ts';

useBrowser();

const BODY = `<span data-redirect hidden><span>You are taken back to La Fonda in <span data-client="seconds"></span>.</span>
  <button type="button" data-stay>Stay</button></span>`;
const paid = (version = 'second', url = '#shop') =>
  page({ version, main: `data-state="paid" data-return-url="${url}"`, body: BODY });
const waiting = page({ main: 'data-state="waiting"' });
const unsettled = page({ version: 'second', main: 'data-state="paid"' });
const note = () => (find('[data-redirect]').hidden ? null : find('[data-redirect] > span').textContent);
const seconds = (count: number) => timers.advanceTimersByTimeAsync(count * 1_000);

beforeEach(() => history.replaceState(null, '', '/pay/REF'));

test('takes a payer who watched the payment back to the shop, and counts the seconds', async () => {
  await run(waiting);
  await changeTo(paid());
  expect([note(), news()]).toEqual(Array(2).fill('You are taken back to La Fonda in 10 seconds.'));
  await seconds(9);
  expect([note(), location.hash]).toEqual(['You are taken back to La Fonda in 1 second.', '']);
  await seconds(1);
  expect([note(), location.hash]).toEqual([null, '#shop']);
});

test('goes on counting while the page changes', async () => {
  await run(waiting);
  await changeTo(paid());
  await seconds(4);
  await changeTo(paid('third'), 'third');
  await seconds(1);
  expect(note()).toBe('You are taken back to La Fonda in 5 seconds.');
});

test('lets the payer stay', async () => {
  await run(waiting);
  await changeTo(paid());
  find('[data-stay]').click();
  await seconds(60);
  expect([note(), location.hash]).toEqual([null, '']);
});

test('leads nowhere while something is due back, nor when it was returned later', async () => {
  await run(waiting);
  await changeTo(unsettled);
  await changeTo(paid('third'), 'third');
  await seconds(60);
  expect([note(), location.hash]).toEqual([null, '']);
});

test('stops when something becomes due back', async () => {
  await run(waiting);
  await changeTo(paid());
  await seconds(4);
  await changeTo(page({ version: 'third', main: 'data-state="paid"', body: BODY }), 'third');
  await seconds(60);
  expect([note(), location.hash]).toEqual([null, '']);
});

test('stays while the wallet of the payer has sent money that the page does not show', async () => {
  const sent = { hash: null, url: null, amount: '1', atMs: Date.now(), known: [] };
  localStorage.setItem('sent /pay/REF', JSON.stringify(sent));
  await run(waiting);
  await changeTo(paid());
  await seconds(60);
  expect(location.hash).toBe('');
});

test.each([
  ['opens the page later', () => run(paid())],
  [
    'comes back by the history',
    async () => {
      await run(waiting);
      await changeTo(paid());
      await seconds(4);
      window.dispatchEvent(new Event('pagehide'));
      window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    },
  ],
])('does not take a payer away who %s', async (_, come) => {
  await come();
  await seconds(60);
  expect(location.hash).toBe('');
});

test('takes a payer back after a button of the sandbox has loaded the page, once', async () => {
  history.replaceState(null, '', '/pay/REF?lang=en&watched=1');
  await run(paid());
  expect([note(), location.search]).toEqual(['You are taken back to La Fonda in 10 seconds.', '?lang=en']);
  await run(paid());
  expect(note()).toBeNull();
});
