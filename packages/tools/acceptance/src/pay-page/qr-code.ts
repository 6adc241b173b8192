import jsqr from 'jsqr';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';

/** The text of the QR code in a screenshot, null if there is none. */
export const qrCodeOn = async (page: Page): Promise<string | null> => {
  const { data, width, height } = PNG.sync.read(await page.screenshot({ fullPage: true }));
  return jsqr.default(new Uint8ClampedArray(data), width, height)?.data ?? null;
};
