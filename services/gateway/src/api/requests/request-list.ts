import type { Queryable } from '@cpg/platform/postgres';
import type { z } from 'zod';
import type { LoggedRequest as Row } from '../../door/request-log/logged-requests.ts';
import type { Filter } from '../lists/cursor.ts';
import { mapPage, type Page, selectPage } from '../lists/page.ts';
import type { LoggedRequest, RequestListQuery, RequestMethod } from './request-schemas.ts';

export const listLoggedRequests = async (
  db: Queryable,
  merchantId: string,
  { method, status, code, api_key_id, request_id, path, ...list }: RequestListQuery,
): Promise<Page<LoggedRequest>> => {
  const page = await selectPage<Row>(db, {
    table: 'gateway.request_log',
    columns: COLUMNS,
    owner: ['merchant_id', merchantId],
    filters: [
      ...Object.entries({ method, code, api_key_id, id: request_id }),
      ...statusFilters(status, code),
      ['path', path, (place) => `starts_with(path, ${place})`],
    ],
    list,
    ordered: [[]],
    isById: request_id !== undefined,
  });
  return mapPage(page, shownOf);
};

const COLUMNS = [
  'merchant_id',
  'api_key_id',
  'user_id',
  'method',
  'path',
  'status',
  'code',
  'duration_ms',
  'address',
] as const satisfies (keyof Row)[];

/** `404` is one status, and `4xx` a class of them. Errors have an index. */
const statusFilters = (status: string | undefined, code: string | undefined): Filter[] => {
  const isError = code !== undefined || (status !== undefined && status >= '4');
  const isClass = status?.endsWith('xx');
  return [
    ['status', isClass ? undefined : status && Number(status)],
    ['status_class', isClass ? Number(status![0]) : undefined, (place) => `status / 100 = ${place}`],
    ['is_error', isError || undefined, () => 'status >= 400'],
  ];
};

const shownOf = ({ api_key_id, user_id, code, created_at, ...row }: Row): LoggedRequest => ({
  id: row.id,
  merchant_id: row.merchant_id,
  method: row.method as z.infer<typeof RequestMethod>,
  path: row.path,
  status: row.status,
  ...(code !== null && { code }),
  ...(api_key_id !== null && { api_key_id }),
  ...(user_id !== null && { user_id }),
  duration_ms: row.duration_ms,
  address: row.address,
  created_at: created_at.toISOString(),
});
