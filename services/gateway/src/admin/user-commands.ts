import { z } from 'zod';
import { newId } from '@cpg/platform';
import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import type { Pool } from '@cpg/platform/postgres';
import { shownUser } from '../api/users/user-list.ts';
import { Role, ROLES } from '../identity/roles.ts';
import { pathOfLink, type SignInLink } from '../identity/sign-in-links.ts';
import { byOperator } from '../audit/record-change.ts';
import { changeUser, createUser, makeLinkFor, type UserChange } from '../api/users/user-changes.ts';
import { type User, userByEmail, usersOf } from '../identity/users.ts';
import { findMerchant, MERCHANT, table } from './command.ts';
import type { KeyAdmin } from './keys.ts';

const EMAIL = ['<email>', 'the email address of the user'] as const;
const ROLE_LIST = Role.options.map((role) => `  ${role.padEnd(9)}  ${ROLES[role].description}`).join('\n');

/** Adds the commands on users: the first owner of a merchant, and help for those who cannot sign in. */
export const addUserCommands = (program: AdminCommand, withAdmin: RunWith<KeyAdmin>): void => {
  const users = program.command('users').description('people who sign in to the dashboard for a merchant');
  users
    .command('create')
    .description('create a user, and print the link by which they sign in first')
    .argument(...MERCHANT)
    .requiredOption('--email <email>', 'with which the user signs in')
    .requiredOption('--role <role>', Role.options.join(', '))
    .option('--name <name>', 'the name of the person')
    .examples('users create mer_01J8… --email ada@shop.example --role owner --name "Ada Byron"')
    .addHelpText('after', `\nRoles:\n${ROLE_LIST}`)
    .runs((merchant: string, input: { email: string; role: string; name?: string }) =>
      withAdmin(async ({ pool, now }) => {
        await findMerchant(pool, merchant);
        const spec = { id: newId('user'), merchantId: merchant, ...parseUser(input) };
        return linkText(await createUser(pool, spec, userChangeByOperator(now())));
      }),
    );
  users
    .command('list')
    .description('list the users of a merchant')
    .argument(...MERCHANT)
    .examples('users list mer_01J8…')
    .runs((merchant: string) => withAdmin(({ pool }) => userTable(pool, merchant)));
  users
    .command('link')
    .description('make a new link for a user who cannot sign in; it replaces earlier links')
    .argument(...EMAIL)
    .option('--remove-totp', 'remove the authenticator app too, which the user has lost')
    .examples('users link ada@shop.example')
    .runs((email: string, { removeTotp = false }: { removeTotp?: boolean }) =>
      withAdmin(async ({ pool, now }) => {
        const { id, merchant_id: merchantId } = await findUser(pool, email);
        return linkText(await makeLinkFor(pool, { merchantId, id, removeTotp }, userChangeByOperator(now())));
      }),
    );
  for (const [verb, status, effect] of [
    ['disable', 'disabled', 'end all sessions of a user, who can no longer sign in'],
    ['enable', 'active', 'let a disabled user sign in again'],
  ] as const)
    users
      .command(verb)
      .description(effect)
      .argument(...EMAIL)
      .examples(`users ${verb} ada@shop.example`)
      .runs((email: string) =>
        withAdmin(async ({ pool, now }) => {
          const { id, merchant_id: merchantId } = await findUser(pool, email);
          await changeUser(pool, { merchantId, id }, { status }, userChangeByOperator(now()));
          return `user ${email} is ${status}`;
        }),
      );
};

/** A change of a user by an operator, who may give every role. */
export const userChangeByOperator = (at: Date): UserChange => ({ ...byOperator(at), manager: null });

const parseUser = ({ email, role, name }: { email: string; role: string; name?: string }) => {
  const known = Role.safeParse(role);
  if (!known.success) throw new CommandError(`--role: there is no role ${role}. The roles are:\n${ROLE_LIST}`);
  if (!z.email().safeParse(email).success) throw new CommandError(`--email: ${email} is not an email address`);
  return { email, role: known.data, name: name ?? null };
};

const findUser = async (pool: Pool, email: string): Promise<User> => {
  const user = await userByEmail(pool, email);
  if (!user) throw new CommandError(`there is no user ${email}`);
  return user;
};

const linkText = (link: SignInLink): string =>
  [
    pathOfLink(link),
    `Put the address of your gateway in front, such as https://pay.example.com, and give it to the user. It works once, until ${link.expiresAt.toISOString()}.`,
  ].join('\n');

const userTable = async (pool: Pool, merchantId: string): Promise<string> => {
  await findMerchant(pool, merchantId);
  const users = await usersOf(pool, merchantId);
  if (users.length === 0) return `merchant ${merchantId} has no users: create one with \`users create\``;
  return table(
    ['ID', 'EMAIL', 'NAME', 'ROLE', 'STATUS', 'TOTP', 'LAST SIGN-IN'],
    users
      .map(shownUser)
      .map((user) => [
        user.id,
        user.email,
        user.name ?? '',
        user.role,
        user.status,
        user.has_totp ? 'yes' : 'no',
        user.last_signed_in_at ?? 'never',
      ]),
  );
};
