/** @jest-environment jsdom */

import {
  browser,
  changeTo,
  FakeStream,
  fetched,
  find,
  news,
  NOW,
  page,
  run,
  settle,
  stream,
  timers,
  useBrowser,
} from '../../testing/jest-browser-page.ts';

useBrowser();

test('shows a change without touching what is the same: focus, selection and open parts stay', async () => {
  const body = (state: string) =>
    `<p id="state">${state}</p><details><summary>Items</summary></details>
     <input id="field" value="0x1234567890"><label><input type="radio" name="way" id="b">B</label>`;
  await run(page({ body: body('waiting') }));
  const field = find<HTMLInputElement>('#field');
  field.focus();
  field.setSelectionRange(2, 5);
  find<HTMLDetailsElement>('details').open = true;
  find<HTMLInputElement>('#b').checked = true;
  await changeTo(page({ version: 'second', news: 'Paid', body: body('paid') }));
  expect([find('#state').textContent, document.title, news()]).toEqual(['paid', 'second', 'Paid']);
  expect([document.activeElement, field.selectionStart, field.selectionEnd]).toEqual([field, 2, 5]);
  expect([find<HTMLDetailsElement>('details').open, find<HTMLInputElement>('#b').checked]).toEqual([true, true]);
});

test('keeps the page while the server cannot render it, and stops following one that is gone', async () => {
  await run(page({ body: 'waiting' }));
  browser.status = 503;
  await changeTo(page({ version: '', body: 'unavailable' }));
  expect(find('main').textContent).toBe('waiting');
  browser.status = 404;
  browser.rendered = page({ version: 'none', news: 'No payment found' });
  await timers.advanceTimersByTimeAsync(10_000);
  expect([news(), fetched.mock.calls.length]).toEqual(['No payment found', 2]);
  stream().refuse();
  await timers.advanceTimersByTimeAsync(60_000);
  expect(fetched).toHaveBeenCalledTimes(2);
});

test('asks for nothing when the version is the one that it shows', async () => {
  await run(page());
  stream().tell('changed', 'first');
  await settle();
  expect(fetched).not.toHaveBeenCalled();
});

const countdown = (ms: number) =>
  `<time class="countdown" datetime="${new Date(NOW + ms).toISOString()}" data-text="{time} left" hidden></time>`;

test('counts down by the clock of the server, and asks for the page at the deadline', async () => {
  timers.setSystemTime(NOW + 3_600_000);
  await run(page({ body: countdown(65_000) }));
  expect([find('time').textContent, find('time').hidden]).toEqual(['1:05 left', false]);
  timers.setSystemTime(Date.now() + 60_000);
  document.dispatchEvent(new Event('visibilitychange'));
  expect(find('time').textContent).toBe('0:05 left');
  fetched.mockClear();
  await timers.advanceTimersByTimeAsync(6_000);
  expect(find('time').textContent).toBe('0:00 left');
  expect(fetched).toHaveBeenCalledTimes(1);
});

test('asks for no money from the deadline on, until the server says what follows', async () => {
  await run(page({ body: countdown(2_000) }));
  browser.status = 503;
  await timers.advanceTimersByTimeAsync(1_500);
  expect(find('main').hasAttribute('data-late')).toBe(false);
  await timers.advanceTimersByTimeAsync(1_500);
  expect(find('main').hasAttribute('data-late')).toBe(true);
  browser.status = 200;
  await changeTo(page({ version: 'renewed', body: countdown(3_600_000) }), 'renewed');
  expect(find('main').hasAttribute('data-late')).toBe(false);
});

test('shows times in the time zone of the payer, also after a change', async () => {
  const body = '<time datetime="2026-03-01T12:00:00Z">12:00 PM UTC</time>';
  const shown = new Intl.DateTimeFormat('en', { dateStyle: 'medium' }).format(NOW);
  await run(page({ body }));
  expect(find('time').textContent).toMatch(new RegExp(`^${shown}`));
  await changeTo(page({ version: 'second', body }));
  expect(find('time').textContent).toMatch(new RegExp(`^${shown}`));
});

test('the page of an error follows nothing, and loads the page again when it is time', async () => {
  const before = FakeStream.opened.length;
  await run(page({ body: '<a href="#again" data-retry-seconds="7">Try again now</a>' }));
  await timers.advanceTimersByTimeAsync(6_000);
  expect([location.hash, FakeStream.opened.length]).toEqual(['', before]);
  await timers.advanceTimersByTimeAsync(2_000);
  expect(location.hash).toBe('#again');
});

test('polls while the stream is refused, slower after faults, and tries the stream again', async () => {
  await run(page());
  stream().refuse();
  browser.rendered = page({ version: 'second', news: 'Seen' });
  await timers.advanceTimersByTimeAsync(5_000);
  expect([fetched.mock.calls.length, news()]).toEqual([1, 'Seen']);
  browser.answers = [
    () => {
      throw new Error('the network is gone');
    },
  ];
  await timers.advanceTimersByTimeAsync(5_000);
  await timers.advanceTimersByTimeAsync(9_000);
  expect(fetched).toHaveBeenCalledTimes(2);
  const before = FakeStream.opened.length;
  await timers.advanceTimersByTimeAsync(60_000);
  expect(FakeStream.opened.length).toBe(before + 1);
});

test('is quiet while it is hidden, and up to date when it is shown', async () => {
  await run(page());
  browser.visibility = 'hidden';
  document.dispatchEvent(new Event('visibilitychange'));
  expect(stream().readyState).toBe(FakeStream.CLOSED);
  await timers.advanceTimersByTimeAsync(120_000);
  expect(fetched).not.toHaveBeenCalled();
  browser.rendered = page({ version: 'second', news: 'Paid' });
  browser.visibility = 'visible';
  document.dispatchEvent(new Event('visibilitychange'));
  await settle();
  expect([stream().readyState, news()]).toEqual([1, 'Paid']);
});

test('connects again when nothing was heard for a minute', async () => {
  await run(page());
  const first = stream();
  await timers.advanceTimersByTimeAsync(59_000);
  first.tell('time', String(NOW));
  await timers.advanceTimersByTimeAsync(59_000);
  expect(stream()).toBe(first);
  await timers.advanceTimersByTimeAsync(2_000);
  expect([first.readyState, stream() === first]).toEqual([FakeStream.CLOSED, false]);
});

test('shows the QR code that the payer chose before, apart for tokens and coins', async () => {
  const codes = (kind: string) => `<fieldset data-codes="${kind}">
    <input type="radio" name="code" value="address" checked><input type="radio" name="code" value="amount"></fieldset>`;
  const chosen = () => find<HTMLInputElement>('input:checked').value;
  await run(page({ body: codes('token') }));
  expect(chosen()).toBe('address');
  find('[value=amount]').click();
  await changeTo(page({ version: 'second', body: `<p>New</p>${codes('token')}` }));
  expect(chosen()).toBe('amount');
  await run(page({ body: codes('coin') }));
  expect(chosen()).toBe('address');
  await run(page());
  await changeTo(page({ version: 'second', body: codes('token') }));
  expect(chosen()).toBe('amount');
});

test('copies by the clipboard, or by a selected field, and says so', async () => {
  await run(page({ body: '<button data-copy="12.5" data-copied="Amount copied" hidden>Copy</button>' }));
  const written: string[] = [];
  const button = find('button');
  Object.assign(navigator, { clipboard: { writeText: async (text: string) => void written.push(text) } });
  button.click();
  await settle();
  expect([written, news(), button.textContent, button.hidden]).toEqual([
    ['12.5'],
    'Amount copied',
    'Amount copied',
    false,
  ]);
  await timers.advanceTimersByTimeAsync(2_000);
  expect(button.textContent).toBe('Copy');
  Object.assign(navigator, { clipboard: undefined });
  Object.assign(document, {
    execCommand: () => written.push((document.activeElement as HTMLTextAreaElement).value) > 0,
  });
  button.focus();
  button.click();
  await settle();
  expect([written.length, written[1], document.activeElement, document.querySelector('textarea')]).toEqual([
    2,
    '12.5',
    button,
    null,
  ]);
});
