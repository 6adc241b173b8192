import { announce } from './refresh.ts';

const SECONDS = 10;

/** Shows print buttons, and takes a payer who watched the payment back to the shop, unless they stay. */
export const offerReceipt = (): { readonly render: () => void } => {
  // A payer who opens the page again, or comes back to it, wants to read it.
  let wasPaid = isPaid() && !hasWatched();
  let timer: ReturnType<typeof setInterval> | undefined;

  const render = (): void => {
    for (const button of document.querySelectorAll<HTMLElement>('[data-print]')) button.hidden = false;
    if (isPaid() && !wasPaid && redirectUrl() !== undefined) start();
    wasPaid = isPaid();
  };
  const start = (): void => {
    const endsAt = performance.now() + SECONDS * 1_000;
    const count = (): void => {
      const url = redirectUrl();
      if (url === undefined) return stop();
      const left = Math.ceil((endsAt - performance.now()) / 1_000);
      show(left);
      if (left > 0) return;
      stop();
      location.assign(url);
    };
    stop();
    timer = setInterval(count, 1_000);
    count();
    announce(note()?.firstElementChild?.textContent ?? '');
  };
  const stop = (): void => {
    clearInterval(timer);
    const shown = note();
    if (shown) shown.hidden = true;
  };
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element)) return;
    if (target.closest('[data-print]')) print();
    if (target.closest('[data-stay]')) stop();
  });
  // A page that comes out of the history again does not go on counting.
  addEventListener('pagehide', stop);
  return { render };
};

const isPaid = (): boolean => document.querySelector('main')?.dataset.state === 'paid';

/** Undefined also while a wallet has sent money that the page does not show yet. */
const redirectUrl = (): string | undefined =>
  document.querySelector<HTMLElement>('main:not([data-sent])')?.dataset.returnUrl;

const note = (): HTMLElement | null => document.querySelector<HTMLElement>('[data-redirect]');

const show = (seconds: number): void => {
  const shown = note();
  if (!shown) return;
  const { lang } = document.documentElement;
  const format = new Intl.NumberFormat(lang || 'en', { style: 'unit', unit: 'second', unitDisplay: 'long' });
  shown.querySelector('[data-client]')!.textContent = format.format(seconds);
  shown.hidden = false;
};

/** Whether the payer saw this page before a button of the sandbox loaded it; true once. */
const hasWatched = (): boolean => {
  const url = new URL(location.href);
  if (!url.searchParams.has('watched')) return false;
  url.searchParams.delete('watched');
  history.replaceState(history.state, '', url);
  return true;
};
