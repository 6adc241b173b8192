/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { afterFirstPaint } from './after-paint.ts';
import { showLocalTimes, startClock } from './clock.ts';
import { copyOnClick } from './copy.ts';
import { followChanges } from './live.ts';
import { offerReceipt } from './receipt.ts';
import { announce, createRefresh } from './refresh.ts';
import { store, stored } from './storage.ts';
import { offerWallets } from './wallet/offer.ts';

// The server renders the page; the script reads these attributes:
//   main            data-version, data-now (clock of the server in ms), data-locale
//   main            data-announcement (announced when main is replaced)
//   main            data-state, data-return-url (the order is paid: where the payer goes)
//   any             data-redirect: says that the payer is taken there; button data-stay
//   time            datetime
//   time.countdown  datetime (a deadline), data-text (`{time}` stands for the time left)
//   any             data-copy (the text to copy), data-copied (announced then)
//   any             data-wallet (a transfer as JSON), data-amount (the same in the currency), data-wallet-texts
//                   (WalletTexts as JSON)
//   any             data-codes (a kind of asset): contains the radio buttons of two QR codes
//   any             data-sent-texts (SentTexts as JSON): shows what a wallet was asked to send
//   any             data-tx (the hash of a payment), data-amount
//   button          data-print
//   a               data-retry-seconds (the page of an error)
//   #announcement   the polite live region, outside of main

const followPage = (): void => {
  const clock = startClock();
  const times = showLocalTimes();
  const copies = copyOnClick({ onCopied: announce });
  const codes = rememberCode();
  const receipt = offerReceipt();
  const refresh = createRefresh({
    onReplaced: (main) => {
      for (const each of [clock, times, copies, codes, wallets, receipt]) each.render();
      announce(main.dataset.announcement ?? '');
    },
  });
  const wallets = offerWallets({ refresh });
  // After the wallets: money on its way keeps the payer here.
  receipt.render();
  const live = followChanges({ refresh, onServerTime: clock.set });
  clock.onDeadline(() => {
    // Also while the server is unavailable. The next page that differs has no such mark.
    document.querySelector('main')?.setAttribute('data-late', '');
    live.update();
  });
};

const STORED_CODE = 'code ';

/** Keeps in the browser which of the two QR codes its wallet reads, apart for tokens and for coins. */
const rememberCode = (): { readonly render: () => void } => {
  const render = (): void => {
    for (const codes of document.querySelectorAll<HTMLElement>('[data-codes]')) {
      const chosen = stored(STORED_CODE + codes.dataset.codes!);
      for (const input of codes.querySelectorAll('input')) if (input.value === chosen) input.checked = true;
    }
  };
  document.addEventListener('change', ({ target }) => {
    const codes = target instanceof HTMLInputElement ? target.closest<HTMLElement>('[data-codes]') : null;
    if (codes) store(STORED_CODE + codes.dataset.codes!, (target as HTMLInputElement).value);
  });
  render();
  return { render };
};

/** Loads the page of an error again after a while; false on other pages. */
const retriesLater = (): boolean => {
  const link = document.querySelector<HTMLAnchorElement>('a[data-retry-seconds]');
  if (!link) return false;
  setTimeout(() => location.replace(link.href), Number(link.dataset.retrySeconds) * 1_000);
  return true;
};

afterFirstPaint(() => {
  if (!retriesLater()) followPage();
});
