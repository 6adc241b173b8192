export type { CryptoPaymentsOptions } from './options.ts';
export { CryptoPaymentsPlugin } from './plugin.ts';
