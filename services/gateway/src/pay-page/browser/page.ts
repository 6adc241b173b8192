/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { startClock } from './clock.ts';
import { copyOnClick } from './copy.ts';
import { followChanges } from './live.ts';
import { offerReceipt } from './receipt.ts';
import { announce, createRefresh } from './refresh.ts';
import { offerWallets } from './wallet/offer.ts';

// The script of the payment page. The server renders all that the payer sees; this script shows the latest rendering,
// counts down, copies, and asks wallets. It reads these attributes, and shows these elements, which are hidden without it:
//   main            data-version, data-now (the server's clock in ms), data-announcement (told when the main is replaced)
//   time.countdown  datetime (a deadline), data-text (`{time}` stands for the time left)
//   any             data-copy (the text to copy), data-copied (what to tell then)
//   any             data-wallet (a transfer as JSON), data-wallet-texts (WalletTexts as JSON)
//   button          data-print
//   main            data-return-url (the order is paid, and its payer goes back to the shop)
//   #announcement   the polite live region, outside of main

const clock = startClock();
const copies = copyOnClick({ onCopied: announce });
const wallets = offerWallets();
const receipt = offerReceipt();
const refresh = createRefresh({
  onReplaced: (main) => {
    clock.render();
    copies.render();
    wallets.render();
    receipt.render();
    announce(main.dataset.announcement ?? '');
  },
});
const live = followChanges({ refresh, onServerTime: clock.set });
clock.onDeadline(live.update);
