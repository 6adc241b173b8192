import type { Texts } from './en.ts';
import { auditLog } from './pt/audit-log.ts';
import { common } from './pt/common.ts';
import { history } from './pt/history.ts';
import { identity } from './pt/identity.ts';
import { money } from './pt/money.ts';
import { oidc } from './pt/oidc.ts';
import { orders } from './pt/orders.ts';
import { passkeys } from './pt/passkeys.ts';
import { reports } from './pt/reports.ts';
import { requests } from './pt/requests.ts';
import { settings } from './pt/settings.ts';
import { webhooks } from './pt/webhooks.ts';

export const pt: Texts = {
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
