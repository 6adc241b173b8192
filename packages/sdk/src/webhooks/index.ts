export { type VerificationFault, WebhookVerificationError } from './error.ts';
export type { DeliveryHeaders } from './headers.ts';
export type * from './events.ts';
export { verify, type VerifyOptions } from './verify.ts';
