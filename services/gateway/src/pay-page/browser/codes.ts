const STORED = 'code ';

/** Keeps in the browser which of the two QR codes its wallet reads, apart for tokens and for coins. */
export const rememberCode = (): { readonly render: () => void } => {
  const render = (): void => {
    for (const codes of document.querySelectorAll<HTMLElement>('[data-codes]')) {
      const chosen = read(codes.dataset.codes!);
      for (const input of codes.querySelectorAll('input')) if (input.value === chosen) input.checked = true;
    }
  };
  document.addEventListener('change', ({ target }) => {
    const codes = target instanceof HTMLInputElement ? target.closest<HTMLElement>('[data-codes]') : null;
    if (codes) write(codes.dataset.codes!, (target as HTMLInputElement).value);
  });
  render();
  return { render };
};

const read = (kind: string): string | null => {
  try {
    return localStorage.getItem(STORED + kind);
  } catch {
    // A browser without storage shows the default.
    return null;
  }
};

const write = (kind: string, chosen: string): void => {
  try {
    localStorage.setItem(STORED + kind, chosen);
  } catch {
    return;
  }
};
