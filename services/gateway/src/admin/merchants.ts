import type { CreateMerchantDto, Merchant } from '@cpg/contracts';
import { type Pool, type Queryable, transaction } from '@cpg/postgres';
import { validationDetails } from '@cpg/runtime';
import {
  insertMerchant,
  type KeptMerchant,
  listMerchants,
  lockMerchant,
  merchantById,
  updateMerchant,
} from '../queries/merchants.ts';
import { newSeed } from '../seed.ts';
import { MerchantDefinition } from './definition.ts';
import { AdminFault } from './fault.ts';
import { table } from './table.ts';

export const createMerchant = async (pool: Pool, definition: unknown, at: Date): Promise<Merchant> => {
  const merchant = valid(definition);
  const id = `mer_${newSeed()}`;
  if (!(await insertMerchant(pool, id, merchant, at))) {
    throw new AdminFault(`a merchant with external_reference_id ${merchant.external_reference_id} exists already`);
  }
  return (await known(pool, id)).resource;
};

/** Replaces the fields that `changes` has; null takes one away. The whole must be a valid definition. */
export const changeMerchant = async (pool: Pool, id: string, changes: unknown, at: Date): Promise<Merchant> => {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) {
    throw new AdminFault('the changes are not a JSON object');
  }
  try {
    return await transaction(pool, async (db) => {
      await lockMerchant(db, id);
      const { definition } = await known(db, id);
      const merged = Object.entries({ ...definition, ...changes }).filter(([, value]) => value !== null);
      await updateMerchant(db, id, valid(Object.fromEntries(merged)), at);
      return (await known(db, id)).resource;
    });
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    throw new AdminFault('another merchant has this external_reference_id');
  }
};

export const showMerchants = async (pool: Pool): Promise<string> => {
  const merchants = await listMerchants(pool);
  if (merchants.length === 0) return 'there are no merchants yet: make one with `merchants create`';
  return table(
    ['ID', 'REFERENCE', 'TYPE', 'NAME', 'CREATED'],
    merchants.map(({ resource }) => [
      resource.id,
      resource.external_reference_id,
      resource.type,
      nameOf(resource),
      resource.created_at,
    ]),
  );
};

const UNIQUE_VIOLATION = '23505';

const known = async (db: Queryable, id: string): Promise<KeptMerchant> => {
  const merchant = await merchantById(db, id);
  if (!merchant) throw new AdminFault(`there is no merchant ${id}`);
  return merchant;
};

const valid = (definition: unknown): CreateMerchantDto => {
  const parsed = MerchantDefinition.safeParse(definition);
  if (parsed.success) return parsed.data;
  const faults = validationDetails(parsed.error).map(({ path, message }) => `  ${path}: ${message}`);
  throw new AdminFault(`the merchant is not right:\n${faults.join('\n')}`);
};

const nameOf = ({ business_profile, individual_profile }: Merchant): string =>
  business_profile?.business_name ?? `${individual_profile?.first_name} ${individual_profile?.last_name}`;
