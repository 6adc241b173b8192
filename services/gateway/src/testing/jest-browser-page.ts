import { en } from '../checkout/view/texts/en.ts';

export const timers = (import.meta as unknown as { jest: typeof jest }).jest;

export const NOW = Date.parse('2026-03-01T12:00:00Z');
export const HASH = `0x${'ab'.repeat(32)}`;
export const TRANSFER = { chainId: '0x1', to: '0x00000000000000000000000000000000000000bb', value: '0x64', data: '0x' };
const textsOf = (texts: object) => Object.fromEntries(Object.keys(texts).map((name) => [name, `text: ${name}`]));
const WALLET_TEXTS = { ...textsOf(en.wallet('', '')), pay_with: 'Pay with {wallet}' };
const SENT_TEXTS = textsOf(en.sentByWallet);

/** The page as the server renders it. */
export const page = ({ version = 'first', news = '', body = '', main = '' } = {}) =>
  `<html lang="en"><head><title>${version}</title></head><body>
    <main data-version="${version}" data-now="${NOW}" data-announcement="${news}" ${main}><section id="sent"
      data-sent-texts='${JSON.stringify(SENT_TEXTS)}' hidden></section>${body}</main>
    <p id="announcement" role="status"></p></body></html>`;

/** The offer of the page to wallets of the browser. */
export const wallet = (changes: Partial<typeof TRANSFER> = {}, amount = '0.000100') =>
  `<section class="way"><div data-wallet='${JSON.stringify({ ...TRANSFER, ...changes })}' data-amount="${amount}"
    data-wallet-texts='${JSON.stringify(WALLET_TEXTS)}' hidden></div></section>`;

export class FakeStream extends EventTarget {
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
export const stream = () => FakeStream.opened.at(-1)!;

type Held = (lock: object | null) => Promise<unknown>;
interface Options {
  readonly ifAvailable?: boolean;
  readonly signal?: AbortSignal;
}

/** Web Locks, as far as the page uses them. */
const fakeLocks = () => {
  const held = new Set<string>();
  const waiting: { readonly name: string; readonly start: () => void }[] = [];
  const hold = async (name: string, callback: Held) => {
    held.add(name);
    try {
      return await callback({});
    } finally {
      held.delete(name);
      const next = waiting.findIndex((each) => each.name === name);
      if (next >= 0) waiting.splice(next, 1)[0]!.start();
    }
  };
  const request = (name: string, { ifAvailable, signal }: Options, callback: Held): Promise<unknown> => {
    if (!held.has(name)) return hold(name, callback);
    if (ifAvailable) return callback(null);
    return new Promise((resolve, reject) => {
      const waits = { name, start: () => resolve(hold(name, callback)) };
      waiting.push(waits);
      signal?.addEventListener('abort', () => {
        const at = waiting.indexOf(waits);
        if (at < 0) return;
        waiting.splice(at, 1);
        reject(new Error('aborted'));
      });
    });
  };
  return { request };
};

class FakeChannel extends EventTarget {
  static readonly open = new Set<FakeChannel>();
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
    FakeChannel.open.add(this);
  }
  postMessage(data: unknown): void {
    for (const each of FakeChannel.open)
      if (each !== this && each.name === this.name) each.dispatchEvent(new MessageEvent('message', { data }));
  }
  close(): void {
    FakeChannel.open.delete(this);
  }
}

/** Gives the browser no open tabs, locks or channels. */
export const useLocks = (): void => {
  FakeChannel.open.clear();
  Object.assign(globalThis, { BroadcastChannel: FakeChannel });
  Object.defineProperty(navigator, 'locks', { value: fakeLocks(), configurable: true });
};

/** What the server answers, and whether the payer sees the page. */
export const browser = {
  rendered: '',
  status: 200,
  /** Run before each answer, in turn. */
  answers: [] as (() => unknown)[],
  visibility: 'visible',
};
export const fetched = timers.fn(async () => {
  browser.answers.shift()?.();
  const { status } = browser;
  return { ok: status === 200, status, text: async () => browser.rendered };
});

const show = (html: string) => {
  const { documentElement } = new DOMParser().parseFromString(html, 'text/html');
  document.documentElement.lang = documentElement.lang;
  document.body.innerHTML = documentElement.querySelector('body')!.innerHTML;
};
export const changeTo = async (html: string, version = 'second') => {
  browser.rendered = html;
  stream().tell('changed', version);
  await settle();
};
export const settle = () => timers.advanceTimersByTimeAsync(1);
export const find = <E extends HTMLElement>(selector: string) => document.querySelector<E>(selector)!;
export const news = () => find('#announcement').textContent;

let listeners: (() => void)[] = [];
/** Stops what the script of the page that was left would still do. */
const leave = () => {
  window.dispatchEvent(new Event('pagehide'));
  for (const remove of listeners) remove();
  listeners = [];
  timers.clearAllTimers();
};
/** Opens a page: runs the script anew. */
export const run = async (html: string) => {
  leave();
  show((browser.rendered = html));
  timers.resetModules();
  await import('../checkout/browser/page.ts');
  await settle();
};

/** Registers the hooks of a file that runs the script of the page in jsdom. */
export const useBrowser = (): void => {
  beforeAll(() => {
    Object.assign(globalThis, { EventSource: FakeStream, fetch: fetched, CSS: { escape: (text: string) => text } });
    for (const target of [window, document]) {
      const add = target.addEventListener.bind(target) as EventTarget['addEventListener'];
      target.addEventListener = (type: string, listener: EventListener) => {
        add(type, listener);
        listeners.push(() => target.removeEventListener(type, listener));
      };
    }
    Object.defineProperty(document, 'visibilityState', { get: () => browser.visibility });
  });
  beforeEach(() => {
    timers.useFakeTimers({ now: NOW });
    useLocks();
    fetched.mockClear();
    Object.assign(browser, { answers: [], status: 200, visibility: 'visible' });
    localStorage.clear();
  });
  afterEach(() => {
    leave();
    timers.useRealTimers();
  });
};
