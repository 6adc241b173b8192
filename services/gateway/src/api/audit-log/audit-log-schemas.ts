import {
  EventId,
  EXAMPLE_IDS,
  MerchantEventType,
  OwnerId,
  pageOf,
  requestText,
  Timestamp,
  withExample,
} from '@cpg/contracts';
import { z } from 'zod';
import { ListQuery, oneOrMore } from '../lists/list-query.ts';

export const AuditLogChange = withExample(
  z.object({
    field: z.string().describe('The field that changed.'),
    before: z
      .unknown()
      .optional()
      .describe('Its value before, as the resource shows it: `null` for none. Absent for personal data.'),
    after: z
      .unknown()
      .optional()
      .describe('Its value after, as the resource shows it: `null` for none. Absent for personal data.'),
  }),
  { field: 'role', before: 'viewer', after: 'support' },
);

export const AuditLogEntry = withExample(
  z.object({
    id: EventId.describe('The entry: `evt_` and a ULID.'),
    merchant_id: OwnerId,
    type: MerchantEventType.describe('What changed.'),
    subject: z.string().describe('The id of the API key, user, webhook or merchant that changed.'),
    actor: z
      .string()
      .describe(
        'Who changed it: `key:` and the last 12 characters of the `prefix` of an API key, `user:` and an id, `operator` with or without a name, or `service:` and a name.',
      ),
    request_id: z.string().optional().describe('The request that changed it. Absent if no request of the API did.'),
    changes: z.array(AuditLogChange).describe('The fields that changed. No secret is among them.'),
    reason: z.string().optional().describe('Why, if the operator or the service gave a reason.'),
    created_at: Timestamp.describe('When it changed: ISO 8601, UTC, milliseconds.'),
  }),
  {
    id: EXAMPLE_IDS.event,
    merchant_id: EXAMPLE_IDS.merchant,
    type: 'UserChanged',
    subject: EXAMPLE_IDS.user,
    actor: `user:${EXAMPLE_IDS.user}`,
    request_id: 'req_01KG9Q2T8Q1A2B3C4D5E6F7G8J',
    changes: [{ field: 'role', before: 'viewer', after: 'support' }],
    created_at: '2026-01-31T12:00:00.000Z',
  },
);
export type AuditLogEntry = z.infer<typeof AuditLogEntry>;

export const AuditLogPage = pageOf(AuditLogEntry);

export const AuditLogQuery = ListQuery.extend({
  type: oneOrMore(MerchantEventType)
    .optional()
    .describe('Only entries of this type. Repeat the parameter for several.'),
  subject: requestText(1, 64)
    .optional()
    .describe('Only changes of the API key, user, webhook or merchant with this id.'),
  actor: requestText(1, 128).optional().describe('Only changes by this actor.'),
});
export type AuditLogQuery = z.infer<typeof AuditLogQuery>;

export const listAuditLog = {
  operationId: 'listAuditLog',
  summary: 'List changes of settings',
  description:
    'Lists who changed API keys, users, webhooks and settings of your merchant, sorted by time. Entries are never changed or deleted. They contain no secrets, and of personal data only that it changed. Stop when `page >= totalPages`.',
  tags: ['Merchant'],
  querystring: AuditLogQuery,
  response: { 200: AuditLogPage },
};
