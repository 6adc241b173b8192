/** @jest-environment jsdom */

import {
  browser,
  changeTo,
  find,
  HASH,
  news,
  NOW,
  page,
  run,
  settle,
  timers,
  TRANSFER,
  useBrowser,
  wallet,
} from '../../../testing/jest-browser-page.ts';

useBrowser();

const KEY = `sent ${location.pathname}`;
const SENT = 'text: sent text: transaction 0xabababab…abababab';
const DAY_MS = 24 * 3_600_000;

/** What happens before the wallet answers, by the number of the call: 1 is the first one. */
let before: Record<number, () => unknown> = {};
let calls: string[] = [];
let sent: unknown[] = [];
let answer: () => unknown;
let chains: string[] = [];
const provider = {
  request: async ({ method, params }: { method: string; params?: unknown[] }) => {
    calls.push(method);
    await before[calls.length]?.();
    if (method === 'eth_chainId') return chains.shift() ?? '0x1';
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
const button = () => find<HTMLButtonElement>('[data-wallet] button');
const status = () => find('[data-wallet] p').textContent;
const sentNews = () => {
  const section = find('#sent');
  return section.hidden ? null : section.querySelector('p')!.textContent;
};
const isPayable = () => !find('main').hasAttribute('data-sent') && !button().disabled;
const click = async () => {
  button().click();
  // A change that a call waits for takes turns of its own.
  for (let turns = 0; turns < 5; turns += 1) await settle();
};
/** What another tab of this page keeps for this one. */
const keepElsewhere = (record: object | null) => {
  if (record) localStorage.setItem(KEY, JSON.stringify(record));
  else localStorage.removeItem(KEY);
  window.dispatchEvent(new StorageEvent('storage', { key: KEY }));
};
beforeEach(() => {
  [before, calls, sent, chains] = [{}, [], [], []];
  answer = () => HASH;
  Object.assign(window, { ethereum: provider });
});
afterEach(() => void delete (window as { ethereum?: unknown }).ethereum);

test('shows the button only where there is one, and names those that announce themselves', async () => {
  delete (window as { ethereum?: unknown }).ethereum;
  await run(page({ body: wallet() }));
  expect(find('[data-wallet]').hidden).toBe(true);
  announceWallet('One $& <b>');
  announceWallet('Two');
  expect(find('[data-wallet]').hidden).toBe(false);
  expect([...document.querySelectorAll('[data-wallet] button')].map(({ textContent }) => textContent)).toEqual([
    'Pay with One $& <b>',
    'Pay with Two',
  ]);
});

test('sends once, however often the button is clicked, also after a reload', async () => {
  await run(page({ body: wallet() }));
  button().click();
  await click();
  await click();
  expect(sent).toEqual([{ from: '0xaa', ...TRANSFER }]);
  expect([isPayable(), sentNews()]).toEqual([false, SENT]);
  await run(page({ body: wallet() }));
  await click();
  expect([sent.length, isPayable(), sentNews()]).toEqual([1, false, SENT]);
});

describe('the payment changes while the wallet waits', () => {
  const CALLS = ['0x89', '0x1'];
  /** The calls before the wallet is asked to send. */
  const ASKED = [
    'eth_requestAccounts',
    'eth_chainId',
    'wallet_switchEthereumChain',
    'eth_chainId',
    'eth_accounts',
    'eth_getBalance',
    'eth_chainId',
  ];
  const serve = (body: string) => () => void (browser.rendered = page({ version: 'second', body }));
  const CHANGES: [change: string, problem: string, happen: () => unknown][] = [
    ['expires', 'over', serve('')],
    ['is partly paid', 'changed', serve(wallet({ value: '0x1' }))],
    ['gets another address', 'changed', serve(wallet({ to: '0xcc' }))],
    ['gets another price of a token', 'changed', serve(wallet({ data: '0xa9059cbb' }))],
    ['moves to another network', 'changed', serve(wallet({ chainId: '0x2' }))],
    ['is deleted', 'over', () => ((browser.status = 404), serve('')())],
    ['can no longer be read', 'unchecked', () => void (browser.status = 503)],
    [
      'was sent in another tab',
      'elsewhere',
      () => localStorage.setItem(KEY, JSON.stringify({ hash: HASH, known: [] })),
    ],
  ];
  /** The page hears of the change, or only asks for it itself. */
  const TELLS = [
    ['told', true],
    ['not told', false],
  ] as const;

  const pairs = ASKED.flatMap((call, index) =>
    CHANGES.flatMap(([change, problem, happen]) =>
      TELLS.map(([tell, isTold]) => ({ n: index + 1, call, change, tell, isTold, problem, happen })),
    ),
  ).filter(
    // After the page was loaded anew, only what it is told can stop the request to send.
    ({ n, isTold, problem }) => n < ASKED.length || problem === 'elsewhere' || (isTold && problem !== 'unchecked'),
  );

  test.each(pairs)(
    'during call $n, $call: it $change ($tell): nothing is sent, and the page says $problem',
    async ({ n, call, isTold, problem, happen }) => {
      chains = [...CALLS];
      before[n] = async () => {
        happen();
        if (isTold) await changeTo(browser.rendered);
      };
      await run(page({ body: wallet() }));
      await click();
      expect([calls[n - 1], sent]).toEqual([call, []]);
      const said = problem === 'over' ? sentNews() : status();
      expect([said, news()]).toEqual([`text: ${problem}`, `text: ${problem}`]);
    },
  );

  test('asks for nothing between the last look at the page and the request to send', async () => {
    chains = [...CALLS];
    await run(page({ body: wallet() }));
    await click();
    expect(calls).toEqual([...ASKED, 'eth_sendTransaction']);
  });

  test('tells the payer to decline what is already open in the wallet', async () => {
    let decline = () => {};
    answer = () => new Promise((_, reject) => (decline = () => reject(Object.assign(new Error('no'), { code: 4001 }))));
    await run(page({ body: wallet() }));
    await click();
    await changeTo(page({ version: 'second' }));
    expect([sentNews(), news()]).toEqual(['text: decline', 'text: decline']);
    decline();
    await settle();
    expect([sentNews(), localStorage.length]).toEqual(['text: refused', 0]);
  });

  test('keeps what the wallet sent nevertheless', async () => {
    let finish = (_hash: string) => {};
    answer = () => new Promise((done) => (finish = done));
    await run(page({ body: wallet() }));
    await click();
    await changeTo(page({ version: 'second' }));
    finish(HASH);
    await settle();
    expect(sentNews()).toBe(SENT);
  });
});

describe('what the wallet sent', () => {
  const send = async () => {
    await run(page({ body: wallet() }));
    await click();
  };
  const row = (hash: string, amount: string) => `<p data-tx="${hash}" data-amount="${amount}"></p>`;
  const OTHER = `0x${'cd'.repeat(32)}`;

  test('stays shown without how to pay while the page changes, also when it asks for no money any more', async () => {
    await send();
    await changeTo(page({ version: 'second', body: `${wallet()}${row(OTHER, '0.000001')}` }));
    expect([isPayable(), sentNews()]).toEqual([false, SENT]);
    await changeTo(page({ version: 'third' }), 'third');
    expect([find('main').hasAttribute('data-sent'), sentNews()]).toEqual([true, SENT]);
  });

  test.each([
    ['it is on chain', HASH.toUpperCase(), '0.000100'],
    ['its replacement is on chain', OTHER, '0.000100'],
  ])('is shown until %s; then the wallet can pay the rest', async (_, hash, amount) => {
    await send();
    await changeTo(page({ version: 'second', body: `${wallet({ value: '0x1' })}${row(hash, amount)}` }));
    expect([isPayable(), sentNews(), localStorage.length]).toEqual([true, null, 0]);
    await click();
    expect(sent[1]).toMatchObject({ value: '0x1' });
  });

  test('an earlier payment of the same amount is not its replacement', async () => {
    await run(page({ body: `${wallet()}${row(OTHER, '0.000100')}` }));
    await click();
    await changeTo(page({ version: 'second', body: `${wallet()}${row(OTHER, '0.000100')}` }));
    expect(sentNews()).toBe(SENT);
  });

  test.each([
    [true, DAY_MS - 1_000],
    [false, DAY_MS + 1_000],
  ])('is shown for a day: %p after %i ms', async (isShown, ageMs) => {
    await send();
    const record = JSON.parse(localStorage.getItem(KEY)!) as object;
    localStorage.setItem(KEY, JSON.stringify({ ...record, atMs: NOW - ageMs }));
    await run(page({ body: wallet() }));
    expect([isPayable(), sentNews(), localStorage.length]).toEqual(isShown ? [false, SENT, 1] : [true, null, 0]);
  });

  test('is shown in each tab, as long as any shows it', async () => {
    await run(page({ body: wallet() }));
    keepElsewhere({ hash: HASH, url: null, amount: '0.000100', atMs: Date.now(), known: [] });
    expect([isPayable(), sentNews()]).toEqual([false, SENT]);
    keepElsewhere(null);
    expect([isPayable(), sentNews()]).toEqual([true, null]);
  });

  test('is forgotten when the payer says that it failed', async () => {
    await send();
    find('#sent button').click();
    expect([isPayable(), sentNews(), localStorage.length]).toEqual([true, null, 0]);
  });

  test('removes what was kept for a page that nobody opens any more', async () => {
    localStorage.setItem('sent /pay/OLD', JSON.stringify({ atMs: Date.now() - DAY_MS - 1 }));
    localStorage.setItem('sent /pay/NEW', JSON.stringify({ atMs: Date.now() }));
    await run(page({ body: wallet() }));
    expect(Object.keys(localStorage)).toEqual(['sent /pay/NEW']);
  });
});

test('asks to look into the wallet when the page was closed before the wallet answered', async () => {
  answer = () => new Promise(() => {});
  await run(page({ body: wallet() }));
  await click();
  expect([status(), sentNews()]).toEqual(['text: confirm', null]);
  await run(page({ body: wallet() }));
  expect([isPayable(), sentNews()]).toEqual([false, 'text: asked']);
  find('#sent button').click();
  expect(isPayable()).toBe(true);
});

test('asks to look into the wallet when its answer says neither', async () => {
  answer = () => {
    throw Object.assign(new Error('a fault of the wallet'), { code: -32_603 });
  };
  await run(page({ body: wallet() }));
  await click();
  expect([isPayable(), sentNews(), news()]).toEqual([false, 'text: asked', 'text: unsure']);
});

test('keeps its state while the page changes', async () => {
  let finish = (_hash: string) => {};
  answer = () => new Promise((done) => (finish = done));
  await run(page({ body: wallet() }));
  await click();
  await changeTo(page({ version: 'second', body: `<p>New</p>${wallet()}` }));
  expect([button().disabled, status(), find('[data-wallet]').hidden]).toEqual([true, 'text: confirm', false]);
  finish(HASH);
  await settle();
  expect([sentNews(), news()]).toEqual([SENT, SENT]);
});

test('tells in words that the payer refused, and lets the payer try again', async () => {
  answer = () => {
    throw Object.assign(new Error('no'), { code: 4001 });
  };
  await run(page({ body: wallet() }));
  await click();
  expect([status(), news(), isPayable()]).toEqual(['text: refused', 'text: refused', true]);
  answer = () => HASH;
  await click();
  expect(sentNews()).toBe(SENT);
});

test('a browser without storage keeps it until the page is left', async () => {
  const setItem = timers.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new Error('denied');
  });
  await run(page({ body: wallet() }));
  await click();
  setItem.mockRestore();
  expect([isPayable(), sentNews()]).toEqual([false, SENT]);
});
