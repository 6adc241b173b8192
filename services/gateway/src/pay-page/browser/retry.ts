/** Loads the page again after a while where the server could not render it. Returns whether it will. */
export const retriesLater = (): boolean => {
  const link = document.querySelector<HTMLAnchorElement>('a[data-retry-seconds]');
  if (!link) return false;
  setTimeout(() => location.replace(link.href), Number(link.dataset.retrySeconds) * 1_000);
  return true;
};
