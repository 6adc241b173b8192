/** @jest-environment jsdom */

const timers = (import.meta as unknown as { jest: typeof jest }).jest;

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HASH = `0x${'ab'.repeat(32)}`;
const TRANSFER = { chainId: '0x1', to: '0x00000000000000000000000000000000000000bb', value: '0x64', data: '0x' };
const TEXTS = Object.fromEntries(
  ['pay', 'connect', 'network', 'confirm', 'sent', 'transaction', 'show_again', 'refused', 'unsure', 'failed'].map(
    (name) => [name, `text: ${name}`],
  ),
);

/** The page as the server renders it. */
const page = ({ version = 'first', news = '', body = '' } = {}) =>
  `<html lang="en"><head><title>${version}</title></head><body>
    <main data-version="${version}" data-now="${NOW}" data-announcement="${news}">${body}</main>
    <p id="announcement" role="status"></p></body></html>`;

const wallet = (value = '0x64') =>
  `<section class="way" data-wallet='${JSON.stringify({ ...TRANSFER, value })}' data-wallet-texts='${JSON.stringify({ ...TEXTS, pay_with: 'Pay with {wallet}' })}' hidden></section>`;

class FakeStream extends EventTarget {
  static readonly CLOSED = 2;
  static readonly opened: FakeStream[] = [];
  readonly url: string;
  readyState = 1;
  constructor(url: string) {
    super();
    this.url = url;
    FakeStream.opened.push(this);
  }
  close(): void {
    this.readyState = FakeStream.CLOSED;
  }
  tell(type: string, data: string): void {
    this.dispatchEvent(new MessageEvent(type, { data }));
  }
  refuse(): void {
    this.close();
    this.dispatchEvent(new Event('error'));
  }
}
const stream = () => FakeStream.opened.at(-1)!;

let rendered = '';
let status = 200;
let answers: (() => unknown)[] = [];
let visibility = 'visible';
const fetched = timers.fn(async () => {
  answers.shift()?.();
  return { ok: status === 200, status, text: async () => rendered };
});

const show = (html: string) => {
  const { documentElement } = new DOMParser().parseFromString(html, 'text/html');
  document.documentElement.lang = documentElement.lang;
  document.body.innerHTML = documentElement.querySelector('body')!.innerHTML;
};
const changeTo = async (html: string, version = 'second') => {
  rendered = html;
  stream().tell('changed', version);
  await settle();
};
const settle = () => timers.advanceTimersByTimeAsync(1);
const find = <E extends HTMLElement>(selector: string) => document.querySelector<E>(selector)!;
const news = () => find('#announcement').textContent;

let listeners: (() => void)[] = [];
/** Stops what the script of the page that was left would still do. */
const leave = () => {
  window.dispatchEvent(new Event('pagehide'));
  for (const remove of listeners) remove();
  listeners = [];
  timers.clearAllTimers();
};
/** Opens a page: runs the script anew. */
const run = async (html: string) => {
  leave();
  show((rendered = html));
  timers.resetModules();
  await import('./page.ts');
  await settle();
};

beforeAll(() => {
  Object.assign(globalThis, { EventSource: FakeStream, fetch: fetched, CSS: { escape: (text: string) => text } });
  for (const target of [window, document]) {
    const add = target.addEventListener.bind(target) as EventTarget['addEventListener'];
    target.addEventListener = (type: string, listener: EventListener) => {
      add(type, listener);
      listeners.push(() => target.removeEventListener(type, listener));
    };
  }
  Object.defineProperty(document, 'visibilityState', { get: () => visibility });
});
beforeEach(() => {
  timers.useFakeTimers({ now: NOW });
  fetched.mockClear();
  answers = [];
  status = 200;
  visibility = 'visible';
  sessionStorage.clear();
});
afterEach(() => {
  leave();
  timers.useRealTimers();
});

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
  status = 503;
  await changeTo(page({ version: '', body: 'unavailable' }));
  expect(find('main').textContent).toBe('waiting');
  status = 404;
  rendered = page({ version: 'none', news: 'No payment found' });
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
  rendered = page({ version: 'second', news: 'Seen' });
  await timers.advanceTimersByTimeAsync(5_000);
  expect([fetched.mock.calls.length, news()]).toEqual([1, 'Seen']);
  answers = [
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
  visibility = 'hidden';
  document.dispatchEvent(new Event('visibilitychange'));
  expect(stream().readyState).toBe(FakeStream.CLOSED);
  await timers.advanceTimersByTimeAsync(120_000);
  expect(fetched).not.toHaveBeenCalled();
  rendered = page({ version: 'second', news: 'Paid' });
  visibility = 'visible';
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

describe('with a wallet', () => {
  let sent: unknown[] = [];
  let answer: () => unknown;
  const provider = {
    request: async ({ method, params }: { method: string; params?: unknown[] }) => {
      if (method === 'eth_chainId') return '0x1';
      if (method === 'eth_getBalance') return '0xffff';
      if (method !== 'eth_sendTransaction') return ['0xaa'];
      sent.push(params![0]);
      return answer();
    },
  };
  const announceWallet = (name: string) =>
    window.dispatchEvent(
      new CustomEvent('eip6963:announceProvider', { detail: { info: { uuid: name, name }, provider } }),
    );
  const button = () => find<HTMLButtonElement>('section button');
  const status = () => find('section p').textContent;
  beforeEach(() => {
    sent = [];
    answer = () => HASH;
    Object.assign(window, { ethereum: provider });
  });
  afterEach(() => void delete (window as { ethereum?: unknown }).ethereum);

  test('shows the button only where there is one, and names those that announce themselves', async () => {
    delete (window as { ethereum?: unknown }).ethereum;
    await run(page({ body: wallet() }));
    expect(find('section').hidden).toBe(true);
    announceWallet('One $& <b>');
    announceWallet('Two');
    expect(find('section').hidden).toBe(false);
    expect([...document.querySelectorAll('section button')].map(({ textContent }) => textContent)).toEqual([
      'Pay with One $& <b>',
      'Pay with Two',
    ]);
  });

  test('sends once, however often the button is clicked, also after a reload', async () => {
    await run(page({ body: wallet() }));
    button().click();
    button().click();
    await settle();
    button().click();
    await settle();
    expect(sent).toEqual([{ from: '0xaa', ...TRANSFER }]);
    expect([button().disabled, status()]).toEqual([true, 'text: sent text: transaction 0xabababab…abababab']);
    await run(page({ body: wallet() }));
    button().click();
    await settle();
    expect([sent.length, button().disabled, status()]).toEqual([
      1,
      true,
      'text: sent text: transaction 0xabababab…abababab',
    ]);
  });

  test('hides how to pay after it has sent, until the payer asks for it or the page shows the payment', async () => {
    await run(page({ body: wallet() }));
    const isHidden = () => find('.way').hasAttribute('data-sent');
    expect(isHidden()).toBe(false);
    button().click();
    await settle();
    await changeTo(page({ version: 'second', body: wallet() }));
    expect(isHidden()).toBe(true);
    find('[data-client="again"] button').click();
    expect([isHidden(), button().disabled, find('[data-client="again"] button')]).toEqual([false, true, null]);
    await changeTo(page({ version: 'third', body: `${wallet('0x1')}<li data-tx="${HASH}"></li>` }), 'third');
    answer = () => HASH.replaceAll('ab', 'cd');
    button().click();
    await settle();
    expect(isHidden()).toBe(true);
  });

  test('pays the rest once the page shows the payment', async () => {
    await run(page({ body: wallet() }));
    button().click();
    await settle();
    await changeTo(page({ version: 'second', body: `${wallet('0x1')}<li data-tx="${HASH.toUpperCase()}"></li>` }));
    expect([button().disabled, status()]).toEqual([false, '']);
    button().click();
    await settle();
    expect(sent[1]).toMatchObject({ value: '0x1' });
  });

  test('keeps its state while the page changes', async () => {
    let finish = (_hash: string) => {};
    answer = () => new Promise((done) => (finish = done));
    await run(page({ body: wallet() }));
    button().click();
    await settle();
    await changeTo(page({ version: 'second', body: `<p>New</p>${wallet()}` }));
    expect([button().disabled, status(), find('section').hidden]).toEqual([true, 'text: confirm', false]);
    finish(HASH);
    await settle();
    expect(status()).toContain('text: sent');
  });

  test('tells in words that the payer refused, and lets the payer try again', async () => {
    answer = () => {
      throw Object.assign(new Error('no'), { code: 4001 });
    };
    await run(page({ body: wallet() }));
    button().click();
    await settle();
    expect([status(), news(), button().disabled]).toEqual(['text: refused', 'text: refused', false]);
    answer = () => HASH;
    button().click();
    await settle();
    expect(status()).toContain('text: sent');
  });
});
