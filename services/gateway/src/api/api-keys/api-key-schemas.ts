import {
  ApiKeyId,
  choicesOf,
  CreatedAt,
  EXAMPLE_IDS,
  exampleOf,
  OwnerId,
  pageOf,
  requestText,
  Timestamp,
  UpdatedAt,
  withExample,
} from '@cpg/contracts';
import { isAddressOrCidr } from '@cpg/platform';
import { z } from 'zod';
import { KeyEnvironment, Scope } from '../../door/keys/api-key.ts';
import { NoBody, pathId } from '../ids.ts';
import { Instant, ListQuery } from '../lists/list-query.ts';
import { MAX_ACTIVE_KEYS } from './key-changes.ts';

export const ApiKeyStatus = z.enum(['active', 'expired', 'revoked']);

export const ScopeLastUse = z.object({
  scope: Scope.describe('The scope.'),
  last_used_on: z.iso.date().describe('The last day (UTC) on which a request of the key needed it.'),
});

export const ApiKey = withExample(
  z.object({
    id: ApiKeyId.describe('The API key: `key_` and a ULID.'),
    merchant_id: OwnerId,
    label: z.string().optional().describe('Your name for the key. Absent if it has none.'),
    prefix: z
      .string()
      .describe(
        'How the key begins. Its last 12 characters name the key in the history of orders, as the actor `key:` and these.',
      ),
    last4: z.string().describe('The last 4 characters of the key.'),
    environment: KeyEnvironment.describe('The environment in which it works.'),
    scopes: z.array(Scope).describe('What it may do.'),
    scopes_last_used: z
      .array(ScopeLastUse)
      .describe('When the key used its scopes, up to some seconds ago. A scope that is not listed was never used.'),
    allowed_ips: z
      .array(z.string())
      .describe('The IP addresses and CIDR blocks from which it works. Empty if it works from everywhere.'),
    status: ApiKeyStatus.describe('Whether it works.'),
    version: z.int().describe('1, and one more for each rotation.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt.optional(),
    last_used_at: Timestamp.optional().describe('When it was last used, to some seconds. Absent if it never was.'),
    last_used_from: z.string().optional().describe('The address of the client then.'),
    expires_at: Timestamp.optional().describe('When it expires. Absent if it does not.'),
    rotated_at: Timestamp.optional().describe(
      'When a successor replaced it. It works until `expires_at`. Absent if it has none.',
    ),
    revoked_at: Timestamp.optional().describe('When it was revoked. Absent if it was not.'),
  }),
  {
    id: EXAMPLE_IDS.apiKey,
    merchant_id: EXAMPLE_IDS.merchant,
    label: 'Shop backend',
    prefix: 'ak_sandbox_Ab3dEf6hIj9k',
    last4: 'Zx7w',
    environment: 'sandbox',
    scopes: ['orders:self:create', 'orders:self:read'],
    scopes_last_used: [{ scope: 'orders:self:create', last_used_on: '2026-01-31' }],
    allowed_ips: ['203.0.113.0/24'],
    status: 'active',
    version: 1,
    created_at: '2026-01-31T12:00:00.000Z',
  },
);
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyPage = pageOf(ApiKey);

export const ApiKeyWithSecret = withExample(
  ApiKey.extend({
    key: z.string().describe('The key itself. Only this response contains it, so store it now.'),
  }),
  { ...exampleOf(ApiKey), key: 'ak_sandbox_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7cDe0fGh3iJk6lMn9Zx7w' },
);

const Label = requestText(1, 100);

const Scopes = choicesOf(Scope, 'a scope');

const AllowedIps = z
  .array(
    z.string().refine(isAddressOrCidr, {
      error: 'must be an IP address or a CIDR block, such as 203.0.113.7 or 203.0.113.0/24',
    }),
  )
  .max(50);

export const CreateApiKeyDto = withExample(
  z.strictObject({
    scopes: Scopes.describe('What the key may do: no more than the key of this request.'),
    label: Label.optional().describe('Your name for the key, for example the program that uses it.'),
    allowed_ips: AllowedIps.optional().describe(
      'The IP addresses and CIDR blocks from which it works. By default those of the key of this request; an empty list means everywhere.',
    ),
    expires_at: Instant.optional().describe(
      'When it expires. By default it does not, or with the key of this request if that one expires.',
    ),
  }),
  { scopes: ['orders:self:create', 'orders:self:read'], label: 'Shop backend', allowed_ips: ['203.0.113.0/24'] },
);

export const UpdateApiKeyDto = withExample(
  z
    .strictObject({
      scopes: Scopes.optional().describe(
        'What the key may do from now on: all of it, because the list replaces the earlier one.',
      ),
      label: Label.nullable().optional().describe('Your name for the key. `null` removes it.'),
      allowed_ips: AllowedIps.optional().describe(
        'All IP addresses and CIDR blocks from which it works. An empty list means everywhere.',
      ),
    })
    .refine((body) => Object.values(body).some((value) => value !== undefined), {
      error: 'must have scopes, label or allowed_ips',
    })
    .meta({ minProperties: 1 }),
  { label: 'Old shop' },
);

const DEFAULT_OVERLAP_SECONDS = 24 * 60 * 60;

export const RotateApiKeyDto = withExample(
  z.strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(30 * DEFAULT_OVERLAP_SECONDS)
      .optional()
      .describe('How long the old key still works, in seconds. By default a day.'),
  }),
  { overlap_seconds: 3600 },
);

/** How long the old key still works. */
export const overlapMsOf = ({ overlap_seconds: seconds = DEFAULT_OVERLAP_SECONDS }: z.infer<typeof RotateApiKeyDto>) =>
  seconds * 1_000;

const params = pathId('apiKey');
const tags = ['API keys'];
const NO_MORE = 'A key cannot give what it may not do itself: returns 403 `permission_exceeded`.';
const TAKES_SECONDS = 'It takes effect within seconds.';

export const createApiKey = {
  operationId: 'createApiKey',
  summary: 'Create an API key',
  description: `Creates a key of your merchant in this environment. Only this response contains it. ${NO_MORE} A merchant can have ${MAX_ACTIVE_KEYS} active keys; returns 409 \`too_many_api_keys\` after that.`,
  tags,
  body: CreateApiKeyDto,
  response: { 201: ApiKeyWithSecret },
};

export const listApiKeys = {
  operationId: 'listApiKeys',
  summary: 'List API keys',
  description:
    'Lists the API keys of the merchant, also expired and revoked ones, sorted by creation time. No response contains a key. Stop when `page >= totalPages`.',
  tags,
  querystring: ListQuery,
  response: { 200: ApiKeyPage },
};

export const getApiKey = {
  operationId: 'getApiKey',
  summary: 'Retrieve an API key',
  tags,
  params,
  response: { 200: ApiKey },
};

export const updateApiKey = {
  operationId: 'updateApiKey',
  summary: 'Update an API key',
  description: `Replaces the scopes, the list of addresses or the label. ${TAKES_SECONDS} What the key may do afterwards must not be more than what the key of this request may do: returns 403 \`permission_exceeded\`. Returns 409 \`api_key_inactive\` for a revoked key.`,
  tags,
  params,
  body: UpdateApiKeyDto,
  response: { 200: ApiKey },
};

export const rotateApiKey = {
  operationId: 'rotateApiKey',
  summary: 'Rotate an API key',
  description: `Creates a successor with the same scopes, addresses, label and expiry, and returns it. Only this response contains it. The old key works for \`overlap_seconds\` more. ${NO_MORE} Returns 409 \`api_key_inactive\` for a key that is revoked, expired or already rotated.`,
  tags,
  params,
  body: RotateApiKeyDto,
  response: { 201: ApiKeyWithSecret },
};

export const revokeApiKey = {
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key',
  description: `Ends a key for good, also the key of this request itself. ${TAKES_SECONDS} A key that is revoked already stays as it is.`,
  tags,
  params,
  body: NoBody,
  response: { 201: ApiKey },
};
