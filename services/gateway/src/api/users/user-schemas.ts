import {
  CreatedAt,
  EXAMPLE_IDS,
  exampleOf,
  OwnerId,
  pageOf,
  requestText,
  Timestamp,
  UpdatedAt,
  UserId,
  withExample,
} from '@cpg/contracts';
import { z } from 'zod';
import { Scope } from '../../door/keys/api-key.ts';
import { Role, ROLES } from '../../identity/roles.ts';
import { pathId } from '../ids.ts';
import { ListQuery } from '../lists/list-query.ts';

export const UserStatus = z.enum(['invited', 'active', 'disabled']);
export const UserStatusChange = z.enum(['active', 'disabled']);

export const User = withExample(
  z.object({
    id: UserId.describe(
      'The user: `usr_` and a ULID. The history of orders names it as the actor `user:` and this id.',
    ),
    merchant_id: OwnerId,
    email: z.string().describe('The email address, with which the user signs in.'),
    name: z.string().optional().describe('The name of the person. Absent if it has none.'),
    role: Role.describe('What the user may do: see `GET /v1/roles`.'),
    status: UserStatus.describe('`invited` until the user signed in first. A `disabled` user cannot sign in.'),
    has_totp: z.boolean().describe('Whether sign-ins need a code of an authenticator app.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt.optional(),
    last_signed_in_at: Timestamp.optional().describe('When the user last signed in. Absent if they never did.'),
  }),
  {
    id: EXAMPLE_IDS.user,
    merchant_id: EXAMPLE_IDS.merchant,
    email: 'ada@shop.example',
    name: 'Ada Byron',
    role: 'support',
    status: 'invited',
    has_totp: false,
    created_at: '2026-01-31T12:00:00.000Z',
  },
);
export type User = z.infer<typeof User>;

export const UserPage = pageOf(User);

export const SignInLink = withExample(
  z.object({
    sign_in_link: z
      .url()
      .describe(
        'Give it to the user: it signs them in once. Only this response contains it, and it replaces earlier links of the user.',
      ),
    expires_at: Timestamp.describe('Until when it works: three days.'),
  }),
  {
    sign_in_link: 'https://pay.example.com/dashboard/sign-in#link=Q3YxT2p0b0s0dGhpcy1pcy1hbi1leGFtcGxl',
    expires_at: '2026-02-03T12:00:00.000Z',
  },
);

export const UserWithLink = withExample(User.extend({ sign_in_link: SignInLink.shape.sign_in_link }), {
  ...exampleOf(User),
  sign_in_link: exampleOf(SignInLink).sign_in_link,
});

export const RoleDescription = withExample(
  z.object({
    role: Role.describe('The role.'),
    description: z.string().describe('What it is for.'),
    scopes: z.array(Scope).describe('What it may do, as scopes of API keys.'),
  }),
  { role: 'viewer', ...ROLES.viewer, scopes: [...ROLES.viewer.scopes] },
);

export const RoleList = withExample(
  z.object({ items: z.array(RoleDescription).describe('All roles, from the most to the least.') }),
  {
    items: [exampleOf(RoleDescription)],
  },
);

const Name = requestText(1, 100);

export const CreateUserDto = withExample(
  z.strictObject({
    email: z
      .email({ error: ({ input }) => (input === undefined ? 'is required' : 'must be an email address') })
      .max(254)
      .describe('The email address. No user of the gateway may have it yet.'),
    name: Name.optional().describe('The name of the person.'),
    role: Role.describe('What the user may do: no more than the caller.'),
  }),
  { email: 'ada@shop.example', name: 'Ada Byron', role: 'support' },
);

export const UpdateUserDto = withExample(
  z
    .strictObject({
      name: Name.nullable().optional().describe('The name of the person. `null` removes it.'),
      role: Role.optional().describe('What the user may do from now on: no more than the caller.'),
      status: UserStatusChange.optional().describe(
        '`disabled` ends all sessions of the user at once. `active` lets the user sign in again.',
      ),
    })
    .refine((body) => Object.values(body).some((value) => value !== undefined), {
      error: 'must have name, role or status',
    })
    .meta({ minProperties: 1 }),
  { role: 'viewer' },
);

export const CreateSignInLinkDto = withExample(
  z.strictObject({
    remove_totp: z
      .boolean()
      .optional()
      .describe('Whether to remove the authenticator app of the user, who has lost it. By default it stays.'),
  }),
  { remove_totp: false },
);

export const UserDeletion = withExample(
  z.object({ id: UserId.describe('The deleted user.'), deleted: z.literal(true).describe('Always `true`.') }),
  { id: EXAMPLE_IDS.user, deleted: true },
);

const params = pathId('user');
const tags = ['Users'];
const NO_MORE =
  'The role must allow no more than the caller, and only owners manage owners: returns 403 `permission_exceeded`.';
const LAST = 'Returns 409 `last_owner` if the merchant would have no owner who can sign in.';

export const listRoles = {
  operationId: 'getRoles',
  summary: 'List the roles of users',
  description: 'Each role, what it is for, and its scopes.',
  tags,
  response: { 200: RoleList },
};

export const listUsers = {
  operationId: 'listUsers',
  summary: 'List users',
  description:
    'Lists the people who can sign in to the dashboard of the merchant, and disabled ones, sorted by creation time. Stop when `page >= totalPages`.',
  tags,
  querystring: ListQuery,
  response: { 200: UserPage },
};

export const getUser = {
  operationId: 'getUser',
  summary: 'Retrieve a user',
  tags,
  params,
  response: { 200: User },
};

export const createUser = {
  operationId: 'createUser',
  summary: 'Invite a user',
  description: `Creates a user of your merchant, with a link by which they sign in for the first time and set a password. ${NO_MORE}`,
  tags,
  body: CreateUserDto,
  response: { 201: UserWithLink },
};

export const updateUser = {
  operationId: 'updateUser',
  summary: 'Update a user',
  description: `Changes name, role or status. It takes effect at once, also for open sessions. ${NO_MORE} ${LAST}`,
  tags,
  params,
  body: UpdateUserDto,
  response: { 200: User },
};

export const createSignInLink = {
  operationId: 'createSignInLink',
  summary: 'Create a sign-in link',
  description: `Makes a link for a user who cannot sign in, for example without the password. ${NO_MORE} Returns 409 \`user_disabled\` for a disabled user.`,
  tags,
  params,
  body: CreateSignInLinkDto,
  response: { 201: SignInLink },
};

export const deleteUser = {
  operationId: 'deleteUser',
  summary: 'Delete a user',
  description: `Deletes a user and ends all their sessions. The history of orders keeps the id, and no longer finds the name: disable users who worked here instead. ${NO_MORE} ${LAST}`,
  tags,
  params,
  response: { 200: UserDeletion },
};
