import { randomBytes } from 'node:crypto';

/** Generates a signing secret: `whsec_` and 32 random bytes in base64. Source: Standard Webhooks. */
export const createWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
