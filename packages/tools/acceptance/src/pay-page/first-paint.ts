import type { Page } from 'playwright-core';

const FIRST_PAINT = `new Promise((done) =>
  new PerformanceObserver((list) => {
    const [paint] = list.getEntriesByName('first-contentful-paint');
    if (paint) done(paint.startTime);
  }).observe({ type: 'paint', buffered: true }))`;

/** Milliseconds to the first contentful paint. The script of the page starts then. */
export const firstPaintOf = (page: Page): Promise<number> => page.evaluate<number>(FIRST_PAINT);
