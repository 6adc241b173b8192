import type { WalletTransfer } from '../../state/ways.ts';
import type { Texts } from '../../view/texts/en.ts';
import { announce, type Refresh } from '../refresh.ts';
import { findWallets, payWith, type Step, type Wallet, WalletProblem } from './pay.ts';
import { forgetOldSent, isOver, onSentElsewhere, rememberedSent, rememberSent, shownTransactions } from './sent.ts';

/** `{wallet}` stands for the name of a wallet. */
type WalletTexts = ReturnType<Texts['wallet']>;
type SentTexts = Texts['sentByWallet'];

export interface WalletOffer {
  /** Shows or hides the buttons that the page has now, and what was sent. */
  readonly render: () => void;
}

interface Asking {
  /** The transfer that the page asked for when the payer clicked. */
  readonly transfer: string;
  readonly texts: WalletTexts;
  isInWallet: boolean;
}

/** Offers a button for each wallet, until one has sent the payment: nobody should pay twice. */
export const offerWallets = ({ refresh }: { refresh: Pick<Refresh, 'now'> }): WalletOffer => {
  let wallets: readonly Wallet[] = [];

  const render = (): void => {
    payment.compare();
    renderOffer();
    renderSent();
    document.querySelector('main')?.toggleAttribute('data-sent', payment.sent() !== null && !payment.isAsking());
  };

  const renderOffer = (): void => {
    const offer = offerElement();
    if (!offer) return;
    const texts = JSON.parse(offer.dataset.walletTexts!) as WalletTexts;
    offer.hidden = wallets.length === 0;
    const buttons = childOf(offer, 'buttons');
    const labels = wallets.map(({ name }) => (name ? texts.pay_with.replace('{wallet}', () => name) : texts.pay));
    if (buttons.textContent !== labels.join(''))
      buttons.replaceChildren(...labels.map((label, n) => buttonOf(label, () => void payment.pay(wallets[n]!))));
    for (const button of buttons.querySelectorAll('button'))
      button.disabled = payment.isAsking() || payment.sent() !== null;
    childOf(offer, 'status').textContent = payment.status();
  };

  /** Also on a page that asks for no money any more. */
  const renderSent = (): void => {
    const notice = document.querySelector<HTMLElement>('[data-sent-texts]');
    if (!notice) return;
    const texts = JSON.parse(notice.dataset.sentTexts!) as SentTexts;
    const [status, again] = [childOf(notice, 'status'), childOf(notice, 'again')];
    const sent = payment.sent();
    const isShown = sent !== null && !payment.isAsking();
    if (!isShown) again.replaceChildren();
    else if (!again.hasChildNodes()) again.append(buttonOf(texts.again, payment.forget));
    if (!isShown) status.textContent = offerElement() ? '' : payment.status();
    else if (sent.hash) status.replaceChildren(`${texts.sent} ${texts.transaction} `, linkOf(sent.hash, sent.url));
    else status.textContent = texts.asked;
    notice.hidden = status.textContent === '';
  };

  const payment = walletPayment({ refresh, onChange: render });
  findWallets((found) => {
    wallets = found;
    render();
  });
  return { render };
};

/** The payment of this page by a wallet: the transfer that was asked for or sent, and its status text. */
const walletPayment = ({ refresh, onChange }: { refresh: Pick<Refresh, 'now'>; onChange: () => void }) => {
  let sent = rememberedSent();
  let asking: Asking | null = null;
  let statusText = '';

  const keep = (next: typeof sent): void => {
    sent = next;
    rememberSent(next);
  };
  const showStatus = (text: string): void => {
    if (text !== statusText) announce(text);
    statusText = text;
  };

  const pay = async (wallet: Wallet): Promise<void> => {
    const offer = offerElement();
    if (asking || sent || !offer) return;
    const { wallet: transfer, amount } = offer.dataset as { wallet: string; amount: string };
    const texts = JSON.parse(offer.dataset.walletTexts!) as WalletTexts;
    const { explorer, ...request } = JSON.parse(transfer) as WalletTransfer & { explorer?: string };
    const attempt: Asking = { transfer, texts, isInWallet: false };
    asking = attempt;
    const onStep = (step: Step): void => {
      showStatus(texts[step]);
      onChange();
    };
    const check = async (): Promise<void> => {
      try {
        await refresh.now();
      } catch (error) {
        throw new WalletProblem('unchecked', error);
      }
      requireStillAsked(transfer);
    };
    const known = shownTransactions().map(({ hash }) => hash);
    const onSend = (): void => {
      requireStillAsked(transfer);
      attempt.isInWallet = true;
      // Kept before the wallet is asked: a page that is closed meanwhile never hears the hash.
      keep({ hash: null, url: null, amount, atMs: Date.now(), known });
    };
    try {
      const hash = await payWith(wallet.provider, request, { onStep, check, onSend });
      keep({ hash, url: explorer ? `${explorer}/tx/${hash}` : null, amount, atMs: Date.now(), known });
      showStatus('');
    } catch (error) {
      const problem = error instanceof WalletProblem ? error.problem : attempt.isInWallet ? 'unsure' : 'failed';
      if (problem !== 'unsure' && attempt.isInWallet) keep(null);
      if (problem === 'elsewhere') sent = rememberedSent();
      showStatus(texts[problem]);
    }
    asking = null;
    onChange();
    if (statusText === '') announce(document.querySelector('[data-sent-texts] p')?.textContent ?? '');
  };

  forgetOldSent();
  onSentElsewhere(() => {
    if (!asking) sent = rememberedSent();
    onChange();
  });
  return {
    pay,
    sent: () => sent,
    isAsking: () => asking !== null,
    status: () => statusText,
    /** Compares the sent and the asked transfer with the page. */
    compare: (): void => {
      if (sent && !asking && isOver(sent)) keep(null);
      if (asking?.isInWallet && shownTransfer() !== asking.transfer) showStatus(asking.texts.decline);
    },
    // A transaction can fail or be canceled, and only the wallet shows it.
    forget: (): void => {
      keep(null);
      onChange();
    },
  };
};

const offerElement = (): HTMLElement | null => document.querySelector<HTMLElement>('main [data-wallet]');

/** The transfer that the page asks for; undefined where it asks for no money. */
const shownTransfer = (): string | undefined => offerElement()?.dataset.wallet;

/** Throws WalletProblem unless the page asks for the transfer and no other tab has sent it. */
const requireStillAsked = (transfer: string): void => {
  const shown = shownTransfer();
  if (shown !== transfer) throw new WalletProblem(shown === undefined ? 'over' : 'changed');
  if (rememberedSent()) throw new WalletProblem('elsewhere');
};

/** A part of the container that this script fills, and that a refresh leaves alone. */
const childOf = (container: HTMLElement, name: 'buttons' | 'status' | 'again'): HTMLElement => {
  const found = container.querySelector<HTMLElement>(`[data-client="${name}"]`);
  if (found) return found;
  const child = document.createElement(name === 'status' ? 'p' : 'div');
  child.dataset.client = name;
  container.append(child);
  return child;
};

const buttonOf = (label: string, onClick: () => void): HTMLButtonElement => {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = label;
  button.addEventListener('click', onClick);
  return button;
};

const linkOf = (hash: string, url: string | null): HTMLElement => {
  const name = document.createElement(url ? 'a' : 'code');
  name.textContent = `${hash.slice(0, 10)}…${hash.slice(-8)}`;
  if (name instanceof HTMLAnchorElement) Object.assign(name, { href: url, target: '_blank', rel: 'noreferrer' });
  return name;
};
