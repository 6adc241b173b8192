import type { Queryable } from '@cpg/platform/postgres';
import { SHOWN_COLUMNS, type User as StoredUser } from '../../identity/users.ts';
import type { ListQuery } from '../lists/list-query.ts';
import { mapPage, type Page, selectPage } from '../lists/page.ts';
import type { User } from './user-schemas.ts';

export const listUsers = async (db: Queryable, merchantId: string, list: ListQuery): Promise<Page<User>> => {
  const page = await selectPage<Shown>(db, {
    table: 'gateway.users',
    columns: SHOWN_COLUMNS,
    owner: ['merchant_id', merchantId],
    filters: [],
    list,
  });
  return mapPage(page, shownUser);
};

type Shown = Pick<StoredUser, 'id' | 'created_at' | (typeof SHOWN_COLUMNS)[number]>;

/** A user as others see them. */
export const shownUser = (user: Shown): User => ({
  id: user.id,
  merchant_id: user.merchant_id,
  email: user.email,
  ...(user.name !== null && { name: user.name }),
  role: user.role,
  status: statusOf(user),
  has_totp: user.totp_confirmed_at !== null,
  created_at: user.created_at.toISOString(),
  ...(user.updated_at && { updated_at: user.updated_at.toISOString() }),
  ...(user.last_signed_in_at && { last_signed_in_at: user.last_signed_in_at.toISOString() }),
});

const statusOf = ({ disabled_at: disabled, last_signed_in_at: last }: Shown): User['status'] => {
  if (disabled !== null) return 'disabled';
  return last === null ? 'invited' : 'active';
};
