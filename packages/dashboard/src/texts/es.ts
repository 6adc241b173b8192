import type { Texts } from './en.ts';
import { auditLog } from './es/audit-log.ts';
import { common } from './es/common.ts';
import { history } from './es/history.ts';
import { identity } from './es/identity.ts';
import { money } from './es/money.ts';
import { oidc } from './es/oidc.ts';
import { orders } from './es/orders.ts';
import { passkeys } from './es/passkeys.ts';
import { reports } from './es/reports.ts';
import { requests } from './es/requests.ts';
import { settings } from './es/settings.ts';
import { webhooks } from './es/webhooks.ts';

export const es: Texts = {
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
