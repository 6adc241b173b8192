import type { CreateMerchantDto, Merchant } from '@cpg/contracts';
import { describeIssue, newUlid, validationDetails } from '@cpg/platform';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import {
  insertMerchant,
  listMerchants,
  lockMerchant,
  merchantById,
  type StoredMerchant,
  updateMerchant,
} from '../api/merchants/merchant-queries.ts';
import { profileName } from '../api/payment-page/payment-page-settings.ts';
import { AdminError } from './admin-error.ts';
import { MerchantDefinition } from './definition.ts';
import { table } from './table.ts';

export const createMerchant = async (pool: Pool, definition: unknown, at: Date): Promise<Merchant> => {
  const merchant = parseDefinition(definition);
  const id = `mer_${newUlid()}`;
  if (!(await insertMerchant(pool, id, merchant, at))) {
    throw new AdminError(`a merchant with external_reference_id ${merchant.external_reference_id} already exists`);
  }
  return (await findMerchant(pool, id)).resource;
};

/** Replaces the fields in `changes`; null removes a field. The result must be a valid definition. */
export const changeMerchant = async (pool: Pool, id: string, changes: unknown, at: Date): Promise<Merchant> => {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) {
    throw new AdminError('the changes must be a JSON object');
  }
  try {
    return await transaction(pool, async (db) => {
      await lockMerchant(db, id);
      const { definition } = await findMerchant(db, id);
      const merged = Object.entries({ ...definition, ...changes }).filter(([, value]) => value !== null);
      await updateMerchant(db, id, parseDefinition(Object.fromEntries(merged)), at);
      return (await findMerchant(db, id)).resource;
    });
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw new AdminError('another merchant has this external_reference_id');
  }
};

export const merchantTable = async (pool: Pool): Promise<string> => {
  const merchants = await listMerchants(pool);
  if (merchants.length === 0) return 'there are no merchants yet: create one with `merchants create`';
  return table(
    ['ID', 'REFERENCE', 'TYPE', 'NAME', 'CREATED'],
    merchants.map(({ resource }) => [
      resource.id,
      resource.external_reference_id,
      resource.type,
      profileName(resource),
      resource.created_at,
    ]),
  );
};

const UNIQUE_VIOLATION = '23505';

const findMerchant = async (db: Queryable, id: string): Promise<StoredMerchant> => {
  const merchant = await merchantById(db, id);
  if (!merchant) throw new AdminError(`there is no merchant ${id}`);
  return merchant;
};

const parseDefinition = (definition: unknown): CreateMerchantDto => {
  const parsed = MerchantDefinition.safeParse(definition, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const details = validationDetails(parsed.error).map(({ path, message }) => `  ${path}: ${message}`);
  throw new AdminError(`the merchant is not valid:\n${details.join('\n')}`);
};
