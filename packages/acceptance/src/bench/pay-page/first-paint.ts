import { startChromium } from '../../pay-page/chromium.ts';
import { timingsOf } from '../timings.ts';

const LOADS = 15;
const WARM_UPS = 3;

/** The median first contentful paint of each URL, with an empty cache, in milliseconds. */
export const firstPaints = async (urls: readonly string[]): Promise<number[]> => {
  const browser = await startChromium();
  const paints = urls.map((): number[] => []);
  for (let n = -WARM_UPS; n < LOADS; n += 1)
    for (const [index, url] of urls.entries()) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(url);
      const paintMs = await page.evaluate<number>(FIRST_PAINT);
      if (n >= 0) paints[index]!.push(paintMs);
      await context.close();
    }
  await browser.close();
  return paints.map((durations) => timingsOf(durations).median);
};

const FIRST_PAINT = `new Promise((done) =>
  new PerformanceObserver((list) => {
    const [paint] = list.getEntriesByName('first-contentful-paint');
    if (paint) done(paint.startTime);
  }).observe({ type: 'paint', buffered: true }))`;
