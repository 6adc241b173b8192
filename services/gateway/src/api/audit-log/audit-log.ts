import type { FieldChange, MerchantEventType } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { mapPage, oneOrSeveral, type Page, selectPage } from '../lists/page.ts';
import type { AuditLogEntry, AuditLogQuery } from './audit-log-schemas.ts';

interface EventRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly type: MerchantEventType;
  readonly created_at: Date;
  readonly actor: string;
  readonly request_id: string | null;
  readonly subject: string;
  readonly data: { readonly changes: Readonly<Record<string, FieldChange>>; readonly reason?: string };
}

export const listChanges = async (
  db: Queryable,
  merchantId: string,
  { type, subject, actor, ...list }: AuditLogQuery,
): Promise<Page<AuditLogEntry>> => {
  const page = await selectPage<EventRow>(db, {
    table: 'gateway.merchant_events',
    columns: ['merchant_id', 'type', 'actor', 'request_id', 'subject', 'data'],
    owner: ['merchant_id', merchantId],
    filters: [['type', oneOrSeveral(type)], ...Object.entries({ subject, actor })],
    list,
    ordered: [[]],
  });
  return mapPage(page, entryOf);
};

const entryOf = ({ data: { changes, reason }, created_at, request_id, ...row }: EventRow): AuditLogEntry => ({
  id: row.id,
  merchant_id: row.merchant_id,
  type: row.type,
  subject: row.subject,
  actor: row.actor,
  ...(request_id !== null && { request_id }),
  changes: Object.entries(changes).map(([field, values]) => ({ field, ...values })),
  ...(reason !== undefined && { reason }),
  created_at: created_at.toISOString(),
});
