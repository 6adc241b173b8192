import { announce } from '../refresh.ts';
import { payWith, type Problem, type Step, type Transfer, WalletProblem } from './pay.ts';
import { findWallets, type Wallet } from './providers.ts';
import { isOver, rememberedSent, rememberSent, type Sent } from './sent.ts';

/** Texts in the payer's language; `{wallet}` stands for the name of a wallet. */
export type WalletTexts = Readonly<
  Record<'pay' | 'pay_with' | 'sent' | 'transaction' | 'show_again' | Step | Problem, string>
>;

export interface WalletOffer {
  /** Shows or hides the buttons of the containers that the page has now. */
  readonly render: () => void;
}

/** Offers a button for each wallet, until one has sent the payment: nobody should pay twice. */
export const offerWallets = (): WalletOffer => {
  let wallets: readonly Wallet[] = [];
  let isAsking = false;
  let sent = rememberedSent();
  let isShownAgain = false;

  const render = (): void => {
    const hasArrived = sent !== null && isOver(sent);
    if (hasArrived) rememberSent((sent = null));
    for (const container of document.querySelectorAll<HTMLElement>('[data-wallet]')) {
      container.hidden = wallets.length === 0 && !sent;
      container.closest('.way')?.toggleAttribute('data-sent', sent !== null && !isShownAgain);
      const buttons = childOf(container, 'buttons');
      const texts = textsOf(container);
      const labels = wallets.map(({ name }) => (name ? texts.pay_with.replace('{wallet}', () => name) : texts.pay));
      if (buttons.textContent !== labels.join(''))
        buttons.replaceChildren(...labels.map((label, n) => buttonOf(label, () => void pay(container, wallets[n]!))));
      for (const button of buttons.querySelectorAll('button')) button.disabled = isAsking || sent !== null;
      if (sent) show(container, `${texts.sent} ${texts.transaction}`, sent);
      else if (hasArrived) show(container, '');
      childOf(container, 'again').replaceChildren(
        ...(sent && !isShownAgain ? [buttonOf(texts.show_again, showAgain)] : []),
      );
    }
  };

  // A transaction can be dropped, and a payer may have another wallet.
  const showAgain = (): void => {
    isShownAgain = true;
    render();
  };

  const pay = async (container: HTMLElement, wallet: Wallet): Promise<void> => {
    if (isAsking || sent) return;
    isAsking = true;
    render();
    const texts = textsOf(container);
    const { explorer, ...transfer } = JSON.parse(container.dataset.wallet!) as Transfer & { explorer?: string };
    const tell = (text: string): void => {
      show(container, text);
      announce(text);
    };
    try {
      const hash = await payWith(wallet.provider, transfer, (step) => tell(texts[step]));
      sent = { hash, url: explorer ? `${explorer}/tx/${hash}` : null, atMs: Date.now() };
      rememberSent(sent);
      isShownAgain = false;
      announce(texts.sent);
    } catch (error) {
      tell(texts[error instanceof WalletProblem ? error.problem : 'unsure']);
    }
    isAsking = false;
    render();
  };

  findWallets((found) => {
    wallets = found;
    render();
  });
  return { render };
};

const textsOf = (container: HTMLElement): WalletTexts => JSON.parse(container.dataset.walletTexts!) as WalletTexts;

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

const show = (container: HTMLElement, text: string, sent?: Sent): void => {
  const status = childOf(container, 'status');
  status.replaceChildren(text);
  if (!sent) return;
  const short = `${sent.hash.slice(0, 10)}…${sent.hash.slice(-8)}`;
  const name = document.createElement(sent.url ? 'a' : 'code');
  name.textContent = short;
  if (name instanceof HTMLAnchorElement) Object.assign(name, { href: sent.url, target: '_blank', rel: 'noreferrer' });
  status.append(' ', name);
};
