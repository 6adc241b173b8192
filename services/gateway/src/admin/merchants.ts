import {
  type FaultDetail,
  isAppError,
  type Merchant,
  type PaymentPageSettings,
  PaymentPageSettingsDto,
} from '@cpg/contracts';
import { describeIssue, newUlid, validationDetails } from '@cpg/platform';
import { CommandError } from '@cpg/platform/commands';
import type { Pool } from '@cpg/platform/postgres';
import {
  changeMerchant,
  changeMerchantStatus,
  createMerchant as addMerchant,
  type StatusChange,
  statusChangesOf,
} from '../api/merchants/merchant-changes.ts';
import { parseDefinition, refuseUnusable } from '../api/merchants/merchant-definition.ts';
import { listMerchants } from '../api/merchants/merchant-queries.ts';
import {
  paymentPageSettings,
  profileName,
  replacePaymentPageSettings,
} from '../api/payment-page/payment-page-settings.ts';
import { byOperator } from '../audit/record-change.ts';
import { checkSigned, findMerchant, orUnknown, table } from './command.ts';
import type { KeyAdmin } from './keys.ts';

export const createMerchant = async (pool: Pool, definition: unknown, at: Date): Promise<Merchant> => {
  const merchant = await orInvalid('merchant is', () => {
    const parsed = parseDefinition(definition);
    refuseUnusable(parsed);
    return parsed;
  });
  const id = `mer_${newUlid()}`;
  if (!(await addMerchant(pool, id, merchant, byOperator(at)))) {
    throw new CommandError(`a merchant with external_reference_id ${merchant.external_reference_id} already exists`);
  }
  return (await findMerchant(pool, id)).resource;
};

/** Replaces the fields in `changes`; null removes a field. The result must be a valid definition. */
export const updateMerchant = async (pool: Pool, id: string, changes: unknown, at: Date): Promise<Merchant> => {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) {
    throw new CommandError('the changes must be a JSON object');
  }
  try {
    const changed = await orInvalid('merchant is', () => changeMerchant(pool, id, () => changes, byOperator(at)));
    return orUnknown(id, changed).resource;
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw new CommandError('another merchant has this external_reference_id');
  }
};

/** What an operator sees of a merchant. */
export const showMerchant = async (pool: Pool, id: string): Promise<object> => {
  const { resource, definition, disabledAt } = await findMerchant(pool, id);
  const changes = await statusChangesOf(pool, id);
  return {
    ...resource,
    metadata: definition.metadata,
    status: disabledAt ? 'disabled' : 'active',
    status_changes: changes.map((change) => ({ ...change, at: change.at.toISOString() })),
  };
};

/** Disables or enables a merchant, for good until the opposite command. */
export const setMerchantStatus = async (pool: Pool, id: string, change: StatusChange): Promise<void> => {
  await findMerchant(pool, id);
  checkSigned(change, 'decides it');
  if (!(await changeMerchantStatus(pool, id, change)))
    throw new CommandError(`merchant ${id} is already ${change.status}`);
};

export const merchantTable = async (pool: Pool): Promise<string> => {
  const merchants = await listMerchants(pool);
  if (merchants.length === 0) return 'there are no merchants yet: create one with `merchants create`';
  return table(
    ['ID', 'REFERENCE', 'TYPE', 'NAME', 'STATUS', 'CREATED'],
    merchants.map(({ resource, disabledAt }) => [
      resource.id,
      resource.external_reference_id,
      resource.type,
      profileName(resource),
      disabledAt ? 'disabled' : 'active',
      resource.created_at,
    ]),
  );
};

const UNIQUE_VIOLATION = '23505';

export const showPaymentPage = async (pool: Pool, merchantId: string): Promise<PaymentPageSettings> =>
  orUnknown(merchantId, await paymentPageSettings(pool, merchantId));

/** Replaces the settings as the API does. */
export const setPaymentPage = async (
  { pool, environment, now }: Pick<KeyAdmin, 'pool' | 'environment' | 'now'>,
  merchantId: string,
  settings: unknown,
): Promise<PaymentPageSettings> => {
  const parsed = PaymentPageSettingsDto.safeParse(settings, { error: describeIssue });
  if (!parsed.success) throw invalid('settings are', validationDetails(parsed.error));
  const options = { pool, allowLocalUrls: environment === 'sandbox', change: byOperator(now()) };
  const replaced = await orInvalid('settings are', () => replacePaymentPageSettings(merchantId, parsed.data, options));
  return orUnknown(merchantId, replaced);
};

/** The refusal of a request, as the command says it. */
const orInvalid = async <T>(subject: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw isAppError(error, 'invalid_request') ? invalid(subject, error.details) : error;
  }
};

const invalid = (subject: string, details: readonly FaultDetail[]): CommandError =>
  new CommandError(
    `the ${subject} not valid:\n${details.map(({ path, message }) => `  ${path}: ${message}`).join('\n')}`,
  );
