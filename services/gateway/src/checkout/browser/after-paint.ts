/** Some browsers report no paint, and a hidden page is not painted. */
const LATEST_MS = 1_000;

/** Calls back once the browser has shown the page, so that the script delays no first paint. */
export const afterFirstPaint = (callback: () => void): void => {
  if (typeof PerformanceObserver === 'undefined') return callback();
  const painted = (): void => {
    clearTimeout(timer);
    observer.disconnect();
    callback();
  };
  const timer = setTimeout(painted, LATEST_MS);
  const observer = new PerformanceObserver(painted);
  observer.observe({ type: 'paint', buffered: true });
};
