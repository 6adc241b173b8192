import { ApiKeyId, EXAMPLE_IDS, OwnerId, pageOf, requestText, Timestamp, UserId, withExample } from '@cpg/contracts';
import { z } from 'zod';
import { ListQuery } from '../lists/list-query.ts';

export const RequestMethod = z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

export const LoggedRequest = withExample(
  z.object({
    id: z
      .string()
      .describe('The id of the request: its response has it in `x-request-id`, and an error in `request_id`.'),
    merchant_id: OwnerId,
    method: RequestMethod.describe('The HTTP method.'),
    path: z.string().describe('The path as you sent it, without the query.'),
    status: z.int().describe('The HTTP status of the response.'),
    code: z.string().optional().describe('The code of the error. Absent if the response is no error.'),
    api_key_id: ApiKeyId.optional().describe('The API key that made it. Absent if a user of the dashboard did.'),
    user_id: UserId.optional().describe('The user of the dashboard who made it. Absent if an API key did.'),
    duration_ms: z.int().describe('How long the gateway took to answer, in milliseconds.'),
    address: z.string().describe('The IP address of the client.'),
    created_at: Timestamp.describe('When it arrived: ISO 8601, UTC, milliseconds.'),
  }),
  {
    id: 'req_01KG9Q2T8Q1A2B3C4D5E6F7G8J',
    merchant_id: EXAMPLE_IDS.merchant,
    method: 'POST',
    path: `/v1/orders/${EXAMPLE_IDS.order}/cancel`,
    status: 409,
    code: 'cancel_not_allowed',
    api_key_id: EXAMPLE_IDS.apiKey,
    duration_ms: 18,
    address: '203.0.113.7',
    created_at: '2026-01-31T12:00:00.000Z',
  },
);
export type LoggedRequest = z.infer<typeof LoggedRequest>;

export const LoggedRequestPage = pageOf(LoggedRequest);

const STATUS = /^[1-5](?:\d\d|xx)$/;

export const RequestListQuery = ListQuery.extend({
  method: RequestMethod.optional().describe('Only requests with this HTTP method.'),
  status: z
    .string()
    .regex(STATUS, { error: 'must be an HTTP status, like 404, or a class of them, like 4xx' })
    .optional()
    .describe('Only requests that were answered with this HTTP status, like `404`, or one of its class, like `4xx`.'),
  code: requestText(1, 64).optional().describe('Only requests that were answered with this error code.'),
  api_key_id: ApiKeyId.optional().describe('Only requests of this API key.'),
  request_id: requestText(1, 64).optional().describe('Only the request with this id.'),
  path: requestText(1, 512).optional().describe('Only requests whose path starts with this text, like `/v1/orders`.'),
});
export type RequestListQuery = z.infer<typeof RequestListQuery>;

export const listRequests = {
  operationId: 'listRequests',
  summary: 'List requests',
  description:
    'Lists the requests that were made with the API keys of your merchant, and the changes that its users made in the dashboard, sorted by the time at which they arrived. A request appears about a second after its response, and is kept for 7 days unless the operator configured another period. Bodies and queries are not stored. The list is for finding faults and not a record: under overload, and when a gateway crashes, requests may be missing. Stop when `page >= totalPages`.',
  tags: ['Requests'],
  querystring: RequestListQuery,
  response: { 200: LoggedRequestPage },
};
