import jsqr from 'jsqr';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';

/** The text of the one QR code on the page, read from a screenshot as a phone reads it; null if there is none. */
export const qrCodeOn = async (page: Page): Promise<string | null> => {
  const { data, width, height } = PNG.sync.read(await page.screenshot({ fullPage: true }));
  return jsqr.default(new Uint8ClampedArray(data), width, height)?.data ?? null;
};
