/** Loads the page of an error again after a while; false on other pages. */
export const retriesLater = (): boolean => {
  const link = document.querySelector<HTMLAnchorElement>('a[data-retry-seconds]');
  if (!link) return false;
  setTimeout(() => location.replace(link.href), Number(link.dataset.retrySeconds) * 1_000);
  return true;
};
