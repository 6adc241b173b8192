import {
  CreateMerchantDto,
  type FaultDetail,
  isAppError,
  type Merchant,
  type PaymentPageSettings,
  PaymentPageSettingsDto,
} from '@cpg/contracts';
import { describeIssue, newUlid, validationDetails } from '@cpg/platform';
import { CommandError } from '@cpg/platform/commands';
import { type Pool, transaction } from '@cpg/platform/postgres';
import { iso31661 } from 'iso-3166';
import {
  changeMerchantStatus,
  insertMerchant,
  listMerchants,
  lockMerchant,
  type StatusChange,
  statusChangesOf,
  updateMerchant,
} from '../api/merchants/merchant-queries.ts';
import { defaultFaults } from '../api/merchants/order-defaults.ts';
import {
  paymentPageSettings,
  profileName,
  replacePaymentPageSettings,
} from '../api/payment-page/payment-page-settings.ts';
import { checkSigned, findMerchant, orUnknown, table } from './command.ts';
import type { KeyAdmin } from './keys.ts';

export const createMerchant = async (pool: Pool, definition: unknown, at: Date): Promise<Merchant> => {
  const merchant = parseDefinition(definition);
  refuseUnusable(merchant);
  const id = `mer_${newUlid()}`;
  if (!(await insertMerchant(pool, id, merchant, at))) {
    throw new CommandError(`a merchant with external_reference_id ${merchant.external_reference_id} already exists`);
  }
  return (await findMerchant(pool, id)).resource;
};

/** Replaces the fields in `changes`; null removes a field. The result must be a valid definition. */
export const changeMerchant = async (pool: Pool, id: string, changes: unknown, at: Date): Promise<Merchant> => {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) {
    throw new CommandError('the changes must be a JSON object');
  }
  try {
    return await transaction(pool, async (db) => {
      await lockMerchant(db, id);
      const { definition } = await findMerchant(db, id);
      const merged = Object.entries({ ...definition, ...changes }).filter(([, value]) => value !== null);
      const changed = parseDefinition(Object.fromEntries(merged));
      // Earlier defaults do not hinder a change of the payment methods: new orders are refused with what to change.
      if ('order_defaults' in changes) refuseUnusable(changed);
      await updateMerchant(db, id, changed, at);
      return (await findMerchant(db, id)).resource;
    });
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

const parseDefinition = (definition: unknown): CreateMerchantDto => {
  const parsed = MerchantDefinition.safeParse(definition, { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw invalid('merchant is', validationDetails(parsed.error));
};

/** Throws for defaults that the payment methods do not allow. */
const refuseUnusable = ({ order_defaults = {}, payment_methods }: CreateMerchantDto): void => {
  const faults = defaultFaults(order_defaults, payment_methods);
  if (faults.length > 0) throw invalid('merchant is', faults);
};

/** The officially assigned codes of ISO 3166-1 alpha-2. */
const COUNTRIES: ReadonlySet<string> = new Set(iso31661.map(({ alpha2 }) => alpha2));

/** CreateMerchantDto, with an assigned country code and without repeated rails. */
const MerchantDefinition = CreateMerchantDto.superRefine((merchant, context) => {
  const country = merchant.business_profile?.address?.country;
  if (country !== undefined && !COUNTRIES.has(country)) {
    const path = ['business_profile', 'address', 'country'];
    context.addIssue({ code: 'custom', path, message: `${country} is not an ISO 3166-1 alpha-2 code` });
  }
  const rails = merchant.payment_methods.map(({ type }) => type);
  rails.forEach((rail, index) => {
    if (rails.indexOf(rail) === index) return;
    context.addIssue({ code: 'custom', path: ['payment_methods', index, 'type'], message: `${rail} is listed twice` });
  });
});

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
  const options = { db: pool, allowLocalUrls: environment === 'sandbox', at: now() };
  const replaced = await replacePaymentPageSettings(merchantId, parsed.data, options).catch((error: unknown) => {
    throw isAppError(error, 'invalid_request') ? invalid('settings are', error.details) : error;
  });
  return orUnknown(merchantId, replaced);
};

const invalid = (subject: string, details: readonly FaultDetail[]): CommandError =>
  new CommandError(
    `the ${subject} not valid:\n${details.map(({ path, message }) => `  ${path}: ${message}`).join('\n')}`,
  );
