import { invalidRequest, MAX_LOGO_BYTES, type PaymentPageSettings, type PaymentPageSettingsDto } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { paymentPageSettings, storePaymentPageSettings } from './payment-page-queries.ts';
import { checkBrowserUrl } from '../web-url.ts';
import { encodeLogo } from './logo.ts';

export interface ReplaceSettingsOptions {
  readonly db: Queryable;
  /** Whether pages of this machine may embed the payment page by http. */
  readonly allowLocalUrls: boolean;
  readonly at: Date;
}

/** Replaces the settings, except for an absent logo; null if there is no such merchant. */
export const replacePaymentPageSettings = async (
  merchantId: string,
  { display_name, accent_color, logo, frame_ancestors = [] }: PaymentPageSettingsDto,
  { db, allowLocalUrls, at }: ReplaceSettingsOptions,
): Promise<PaymentPageSettings | null> => {
  const frameAncestors = frame_ancestors.map((text, index) => originOf(text, index, allowLocalUrls));
  const settings = {
    displayName: display_name?.trim(),
    accentColor: accent_color?.toLowerCase(),
    frameAncestors: [...new Set(frameAncestors)],
    logo: typeof logo === 'string' ? await encodeLogo(decode(logo)) : logo,
  };
  if (!(await paymentPageSettings(db, merchantId))) return null;
  await storePaymentPageSettings(db, merchantId, settings, at);
  return paymentPageSettings(db, merchantId);
};

const decode = (logo: string): Buffer => {
  const image = Buffer.from(logo, 'base64');
  if (image.length <= MAX_LOGO_BYTES) return image;
  throw invalidRequest([{ path: 'logo', message: `must be at most ${MAX_LOGO_BYTES / 1024} KiB` }]);
};

const originOf = (text: string, index: number, allowLocal: boolean): string => {
  const path = `frame_ancestors.${index}`;
  checkBrowserUrl(text, { path, allowLocal });
  const { origin, pathname, search } = new URL(text);
  // A host may have characters that end a source list of a Content-Security-Policy.
  if (pathname !== '/' || search !== '' || !/^https?:\/\/[a-z0-9.:[\]-]+$/.test(origin))
    throw invalidRequest([{ path, message: 'must be an origin, like https://shop.example' }]);
  return origin;
};
