/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { afterFirstPaint } from './after-paint.ts';
import { startClock } from './clock.ts';
import { rememberCode } from './codes.ts';
import { copyOnClick } from './copy.ts';
import { followChanges } from './live.ts';
import { offerReceipt } from './receipt.ts';
import { announce, createRefresh } from './refresh.ts';
import { retriesLater } from './retry.ts';
import { showLocalTimes } from './times.ts';
import { offerWallets } from './wallet/offer.ts';

// The server renders the page; the script reads these attributes:
//   main            data-version, data-now (clock of the server in ms), data-locale
//   main            data-announcement (told when main is replaced)
//   main            data-state, data-return-url (the order is paid: where the payer goes)
//   any             data-redirect: tells that the payer is taken there; button data-stay
//   time            datetime
//   time.countdown  datetime (a deadline), data-text (`{time}` stands for the time left)
//   any             data-copy (the text to copy), data-copied (what to tell then)
//   any             data-wallet (a transfer as JSON), data-amount (the same in the currency), data-wallet-texts
//                   (WalletTexts as JSON)
//   any             data-codes (a kind of asset): contains the radio buttons of two QR codes
//   any             data-sent-texts (SentTexts as JSON): tells what a wallet was asked to send
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
    // Also while the server cannot tell what follows. The next page that differs has no such mark.
    document.querySelector('main')?.setAttribute('data-late', '');
    live.update();
  });
};

afterFirstPaint(() => {
  if (!retriesLater()) followPage();
});
