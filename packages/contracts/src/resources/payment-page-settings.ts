import { z } from 'zod';
import { withExample } from '../example.ts';
import { UpdatedAt } from '../ids.ts';
import { requestText, visibleLine } from './text.ts';

/** Descriptions of the fields that requests and the resource share. */
const TEXTS = {
  displayName: 'The name that payers see: by default the name of the profile.',
  accentColor:
    'The color of buttons and links, like `#0a7d5c`. The page darkens or brightens it where the contrast would be below 4.5 to 1.',
  contact:
    'How payers reach you: an email address, a phone number or a web address. The page shows it where it tells them to contact you.',
  frameAncestors:
    'Origins whose pages may embed the payment page, like `https://shop.example`: at most 10. By default none.',
};

/** How the payment page looks for a merchant. `updated_at` is absent before the first change, and `logo_url` without a
 *  logo. */
export const PaymentPageSettings = withExample(
  z.object({
    display_name: z.string().describe(TEXTS.displayName),
    accent_color: z.string().optional().describe(TEXTS.accentColor),
    logo_url: z.string().optional().describe('The path of the logo on the gateway. It changes with the logo.'),
    contact: z.string().optional().describe(TEXTS.contact),
    frame_ancestors: z.array(z.string()).describe(TEXTS.frameAncestors),
    updated_at: UpdatedAt.optional(),
  }),
  {
    display_name: 'La Fonda',
    accent_color: '#0a7d5c',
    logo_url: '/pay/logos/738382d599f02600f331d68ed2c78ba057d8541deb65712d27531059bb86191e.png',
    contact: 'hola@lafonda.example',
    frame_ancestors: ['https://lafonda.example'],
    updated_at: '2026-01-31T12:00:00.000Z',
  },
);
export type PaymentPageSettings = z.infer<typeof PaymentPageSettings>;

/** The largest logo in a request, in bytes. */
export const MAX_LOGO_BYTES = 1024 * 1024;

/** A request to replace the settings: an absent field gets its default; only an absent logo keeps the stored one. The
 *  gateway checks the image and that each frame ancestor is an origin. */
export const PaymentPageSettingsDto = withExample(
  z.strictObject({
    display_name: visibleLine(60).optional().describe(TEXTS.displayName),
    accent_color: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, { error: 'must be a color like #0a7d5c' })
      .optional()
      .describe(TEXTS.accentColor),
    logo: z
      .base64({ error: 'must be a PNG, JPEG or WebP image in base64, not a URL and without a "data:" prefix' })
      .min(1)
      .max(Math.ceil(MAX_LOGO_BYTES / 3) * 4)
      .nullish()
      .describe(
        'A PNG, JPEG or WebP image in base64: at most 1 MiB, 16 million pixels, and 8192 pixels on a side. It is scaled down and encoded again as a PNG of at most 100 KiB. `null` removes it. Absent: the stored one stays.',
      ),
    contact: visibleLine(120).optional().describe(TEXTS.contact),
    frame_ancestors: z.array(requestText(1, 255)).max(10).optional().describe(TEXTS.frameAncestors),
  }),
  {
    display_name: 'La Fonda',
    accent_color: '#0a7d5c',
    logo: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
    contact: 'hola@lafonda.example',
    frame_ancestors: ['https://lafonda.example'],
  },
);
export type PaymentPageSettingsDto = z.infer<typeof PaymentPageSettingsDto>;
