import { isAppError, type PaymentPageSettings, PaymentPageSettingsDto } from '@cpg/contracts';
import { describeIssue, validationDetails } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import { paymentPageSettings, replacePaymentPageSettings } from '../api/payment-page/payment-page-settings.ts';
import { AdminError } from './admin-error.ts';
import type { KeyAdmin } from './keys.ts';

export const showPaymentPage = async (pool: Pool, merchantId: string): Promise<PaymentPageSettings> =>
  orUnknown(merchantId, await paymentPageSettings(pool, merchantId));

/** Replaces the settings as the API does. */
export const setPaymentPage = async (
  { pool, environment, now }: Pick<KeyAdmin, 'pool' | 'environment' | 'now'>,
  merchantId: string,
  settings: unknown,
): Promise<PaymentPageSettings> => {
  const parsed = PaymentPageSettingsDto.safeParse(settings, { error: describeIssue });
  if (!parsed.success) throw invalid(validationDetails(parsed.error));
  const options = { db: pool, allowLocalUrls: environment === 'sandbox', at: now() };
  const replaced = await replacePaymentPageSettings(merchantId, parsed.data, options).catch((error: unknown) => {
    throw isAppError(error, 'invalid_request') ? invalid(error.details) : error;
  });
  return orUnknown(merchantId, replaced);
};

const orUnknown = (id: string, settings: PaymentPageSettings | null): PaymentPageSettings => {
  if (settings) return settings;
  throw new AdminError(`there is no merchant ${id}`);
};

const invalid = (details: readonly { readonly path: string; readonly message: string }[]): AdminError =>
  new AdminError(
    `the settings are not valid:\n${details.map(({ path, message }) => `  ${path}: ${message}`).join('\n')}`,
  );
