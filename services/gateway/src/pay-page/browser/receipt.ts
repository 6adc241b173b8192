/** Shows print buttons, and takes a payer who watched the payment back to the shop. */
export const offerReceipt = (): { readonly render: () => void } => {
  const hasReturnUrl = () => document.querySelector('main')?.dataset.returnUrl !== undefined;
  // A payer who opens the page again wants to read it.
  let wasPaid = hasReturnUrl();

  const render = (): void => {
    for (const button of document.querySelectorAll<HTMLElement>('[data-print]')) button.hidden = false;
    if (!wasPaid && hasReturnUrl()) location.replace(watchedUrl());
    wasPaid = hasReturnUrl();
  };
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('[data-print]')) print();
  });
  render();
  return { render };
};

/** The page that says where the payer goes in some seconds, and lets them stay. */
const watchedUrl = (): string => {
  const url = new URL(location.href);
  url.searchParams.set('watched', '1');
  return url.href;
};
