import { AppError } from '@cpg/contracts';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import { type Change, changedFields, recordChange, recordIfChanged } from '../../audit/record-change.ts';
import { type Manager, mayGive, type Role } from '../../identity/roles.ts';
import { endSessions } from '../../identity/sessions.ts';
import { deleteLinks, makeSignInLink, type SignInLink } from '../../identity/sign-in-links.ts';
import {
  countOtherOwners,
  deleteRecoveryCodes,
  deleteUser,
  insertUser,
  setTotp,
  updateUser,
  type User,
  userByEmail,
  userById,
  type UserChanges,
} from '../../identity/users.ts';
import { lockMerchant } from '../merchants/merchant-queries.ts';

/** Who changes a user. */
export interface UserChange extends Change {
  /** What they may give. Null for the operator, who may give every role. */
  readonly manager: Manager | null;
}

export interface UserSpec {
  readonly id: string;
  readonly merchantId: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: Role;
}

/** Creates a user, with the link by which they sign in first. A repeat makes a new link, because the first one was not
 *  stored. Throws `email_taken` when the email address is one of another user, of any merchant. */
export const createUser = (pool: Pool, spec: UserSpec, change: UserChange): Promise<SignInLink> =>
  transaction(pool, async (db) => {
    permit(change.manager, spec.role);
    const { id, merchantId, email, name, role } = spec;
    const user = { id, merchant_id: merchantId, email, name, role, created_at: change.at, created_by: change.by };
    const isNew = await insertUser(db, user);
    if (!isNew && (await userByEmail(db, email))?.id !== id)
      throw new AppError('email_taken', `a user with the email address ${email} exists: use another address`);
    const link = await makeSignInLink(db, id, change);
    const changes = changedFields(null, user, ['email', 'name', 'role']);
    if (isNew) await recordChange(db, { type: 'UserInvited', merchantId, subject: id, changes }, change);
    return link;
  });

/** Changes a user. Disabling ends all sessions and links. Throws `last_owner` if no owner were left. */
export const changeUser = (
  pool: Pool,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
  changes: UserChanges,
  change: UserChange,
): Promise<User> =>
  transaction(pool, async (db) => {
    const user = await lockedUser(db, merchantId, id);
    permit(change.manager, user.role);
    if (changes.role) permit(change.manager, changes.role);
    if (changes.status === 'disabled' || (changes.role && changes.role !== 'owner')) await requireOtherOwner(db, user);
    await updateUser(db, id, changes, change.at);
    if (changes.status === 'disabled') {
      await endSessions(db, id);
      await deleteLinks(db, id);
    }
    const changed = (await userById(db, merchantId, id))!;
    const fields = changedFields(recordedUser(user), recordedUser(changed), ['name', 'role', 'status']);
    await recordIfChanged(db, { type: 'UserChanged', merchantId, subject: id, changes: fields }, change);
    return changed;
  });

const recordedUser = ({ name, role, disabled_at }: User) =>
  ({ name, role, status: disabled_at === null ? 'active' : 'disabled' }) as const;

/** Deletes a user with all sessions. The history of orders keeps the id. */
export const removeUser = (
  pool: Pool,
  { merchantId, id }: { readonly merchantId: string; readonly id: string },
  change: UserChange,
): Promise<void> =>
  transaction(pool, async (db) => {
    const user = await lockedUser(db, merchantId, id);
    permit(change.manager, user.role);
    await requireOtherOwner(db, user);
    await deleteUser(db, id);
    const changes = { role: { before: user.role, after: null } };
    await recordChange(db, { type: 'UserDeleted', merchantId, subject: id, changes }, change);
  });

/** Makes a link for a user who cannot sign in. `removeTotp`: the user has lost the authenticator app. */
export const makeLinkFor = (
  pool: Pool,
  { merchantId, id, removeTotp }: { readonly merchantId: string; readonly id: string; readonly removeTotp: boolean },
  change: UserChange,
): Promise<SignInLink> =>
  transaction(pool, async (db) => {
    const user = await lockedUser(db, merchantId, id);
    permit(change.manager, user.role);
    if (user.disabled_at !== null)
      throw new AppError('user_disabled', 'the user is disabled: enable them first with the status active');
    if (removeTotp) {
      await setTotp(db, id, null, change.at);
      await deleteRecoveryCodes(db, id);
    }
    const link = await makeSignInLink(db, id, change);
    if (removeTotp && user.totp_confirmed_at !== null)
      await recordChange(db, { type: 'TotpRemoved', merchantId, subject: id }, change);
    await recordChange(db, { type: 'SignInLinkCreated', merchantId, subject: id }, change);
    return link;
  });

/** A user of the merchant, whose users nobody else changes until the transaction ends. */
const lockedUser = async (db: Queryable, merchantId: string, id: string): Promise<User> => {
  await lockMerchant(db, merchantId);
  const user = await userById(db, merchantId, id);
  if (!user) throw new AppError('not_found', 'no user has this id');
  return user;
};

const permit = (manager: Manager | null, role: Role): void => {
  if (manager && !mayGive(manager, role)) {
    const reason = role === 'owner' ? 'only an owner manages owners' : `you may do less than ${role} yourself`;
    throw new AppError('permission_exceeded', reason, { details: [{ path: 'role', message: reason }] });
  }
};

const requireOtherOwner = async (db: Queryable, user: User): Promise<void> => {
  if (user.role !== 'owner' || user.disabled_at !== null) return;
  if ((await countOtherOwners(db, user)) > 0) return;
  throw new AppError('last_owner', 'this is the last owner of the merchant: make another user an owner first');
};
