import { auditLog } from './en/audit-log.ts';
import { common } from './en/common.ts';
import { history } from './en/history.ts';
import { identity } from './en/identity.ts';
import { money } from './en/money.ts';
import { oidc } from './en/oidc.ts';
import { orders } from './en/orders.ts';
import { passkeys } from './en/passkeys.ts';
import { reports } from './en/reports.ts';
import { requests } from './en/requests.ts';
import { settings } from './en/settings.ts';
import { webhooks } from './en/webhooks.ts';

export const en = {
  ...common,
  auditLog,
  history,
  identity,
  money,
  oidc,
  orders,
  passkeys,
  reports,
  requests,
  settings,
  webhooks,
};

/** Every text of the dashboard, in one language. */
export type Texts = typeof en;
