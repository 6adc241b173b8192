import { z } from 'zod';
import { Timestamp } from '../ids.ts';
import { requestText } from './text.ts';

/** How the payment page looks for a merchant. */
export const PaymentPageSettings = z.object({
  display_name: z.string(),
  accent_color: z.string().optional(),
  logo_url: z.string().optional(),
  frame_ancestors: z.array(z.string()),
  updated_at: Timestamp.optional(),
});
export type PaymentPageSettings = z.infer<typeof PaymentPageSettings>;

/** The largest logo in a request, in bytes. */
export const MAX_LOGO_BYTES = 1024 * 1024;

const DisplayName = requestText(1, 60).regex(/^[\p{Z}\p{Cf}\p{Cs}\p{Co}\p{Cn}]*[^\p{Z}\p{C}]\P{Cc}*$/u, {
  error: 'must be one line of visible text',
});

export const PaymentPageSettingsDto = z.strictObject({
  display_name: DisplayName.optional(),
  accent_color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, { error: 'must be a color like #0a7d5c' })
    .optional(),
  logo: z
    .base64({ error: 'must be an image in base64' })
    .min(1)
    .max(Math.ceil(MAX_LOGO_BYTES / 3) * 4)
    .nullish(),
  frame_ancestors: z.array(requestText(1, 255)).max(10).optional(),
});
export type PaymentPageSettingsDto = z.infer<typeof PaymentPageSettingsDto>;
