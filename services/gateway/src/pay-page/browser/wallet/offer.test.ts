/** @jest-environment jsdom */

import {
  changeTo,
  find,
  HASH,
  news,
  page,
  run,
  settle,
  TRANSFER,
  useBrowser,
  wallet,
} from '../../../testing/jest-browser-page.ts';

useBrowser();

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
