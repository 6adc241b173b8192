import { store, stored } from './storage.ts';

const STORED = 'code ';

/** Keeps in the browser which of the two QR codes its wallet reads, apart for tokens and for coins. */
export const rememberCode = (): { readonly render: () => void } => {
  const render = (): void => {
    for (const codes of document.querySelectorAll<HTMLElement>('[data-codes]')) {
      const chosen = stored(STORED + codes.dataset.codes!);
      for (const input of codes.querySelectorAll('input')) if (input.value === chosen) input.checked = true;
    }
  };
  document.addEventListener('change', ({ target }) => {
    const codes = target instanceof HTMLInputElement ? target.closest<HTMLElement>('[data-codes]') : null;
    if (codes) store(STORED + codes.dataset.codes!, (target as HTMLInputElement).value);
  });
  render();
  return { render };
};
