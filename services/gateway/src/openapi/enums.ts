import {
  AttemptOutcome,
  DeliveryStatus,
  ItemCurrency,
  ItemKind,
  LedgerAccount,
  MerchantEventType,
  MerchantType,
  OrderEventType,
  OrderStatus,
  OrphanReason,
  PaymentCurrency,
  PaymentEventType,
  PaymentRail,
  PaymentStatus,
  RefundCurrency,
  RefundPart,
  RefundSettlement,
  RefundStatus,
  ReplayStatus,
  UnavailableReason,
  WebhookEventType,
} from '@cpg/contracts';
import type { z } from 'zod';
import { ApiKeyStatus } from '../api/api-keys/api-key-schemas.ts';
import { SimulatedOutcome } from '../api/debug/debug-schemas.ts';
import { SortOrder } from '../api/lists/list-query.ts';
import { SettingsOwner } from '../api/merchants/deposit-settings.ts';
import { AttentionReason } from '../api/overview/overview-schemas.ts';
import { RequestMethod } from '../api/requests/request-schemas.ts';
import { UserStatus, UserStatusChange } from '../api/users/user-schemas.ts';
import { KeyEnvironment, Scope } from '../door/keys/api-key.ts';
import { Role } from '../identity/roles.ts';

const OPEN = 'New values can be added: handle a value that you do not know.';

/** An enum in responses. It may grow within an API version. */
const open = (schema: z.ZodEnum, text: string) => ({
  schema,
  meta: { description: `${text} ${OPEN}`, 'x-extensible-enum': schema.options },
});

/** An enum in requests alone. */
const closed = (schema: z.ZodEnum, text: string) => ({ schema, meta: { description: text } });

/** The enums of the document by name. Generators make one type of each, and a type per place of an enum without a
 *  name. */
export const ENUMS: Readonly<Record<string, { readonly schema: z.ZodEnum; readonly meta: object }>> = {
  OrderStatus: open(OrderStatus, 'The state of an order.'),
  PaymentStatus: open(PaymentStatus, 'The state of a payment.'),
  RefundStatus: open(RefundStatus, 'What is known about the money of a refund.'),
  RefundCurrency: closed(RefundCurrency, 'A currency in which the refund of an order may be given.'),
  RefundPart: closed(RefundPart, 'The part of a payment to refund: its surplus, or all that is left.'),
  RefundSettlement: closed(RefundSettlement, 'How a refund is settled.'),
  OrphanReason: open(OrphanReason, 'Why a payment is an orphan.'),
  PaymentCurrency: open(PaymentCurrency, 'A currency that orders are paid in.'),
  ItemCurrency: open(ItemCurrency, 'A currency of prices.'),
  ItemKind: open(ItemKind, 'What an item stands for. A discount lowers the total.'),
  Rail: open(PaymentRail, 'A way to pay: through a provider (`gateway_pay`), or to an address (`crypto_deposit`).'),
  LedgerAccount: open(LedgerAccount, 'An account of the ledger of a merchant.'),
  UnavailableReason: open(UnavailableReason, 'Why new orders cannot use a currency or a rail now.'),
  MerchantType: open(MerchantType, 'Whether a merchant is a person or a business.'),
  AuditLogType: open(MerchantEventType, 'A kind of change that the audit log shows.'),
  WebhookEventType: open(WebhookEventType, 'The type of an event.'),
  OrderEventType: open(OrderEventType, 'The type of an event about an order.'),
  PaymentEventType: open(PaymentEventType, 'The type of an event about a payment.'),
  DeliveryStatus: open(DeliveryStatus, 'The state of a delivery.'),
  AttemptOutcome: open(AttemptOutcome, 'The result of an attempt to deliver an event.'),
  ReplayStatus: open(ReplayStatus, 'The state of a replay.'),
  AttentionReason: open(AttentionReason, 'What waits for the merchant.'),
  SettingsOwner: open(SettingsOwner, 'Whose a setting is.'),
  Scope: open(Scope, 'What an API key may do.'),
  ApiKeyStatus: open(ApiKeyStatus, 'Whether an API key works.'),
  RequestMethod: open(RequestMethod, 'The HTTP method of a request.'),
  Role: open(Role, 'What a user of a merchant may do.'),
  UserStatus: open(UserStatus, 'Whether a user can sign in.'),
  UserStatusChange: closed(UserStatusChange, 'Whether a user may sign in from now on.'),
  KeyEnvironment: open(KeyEnvironment, 'Whether an API key works in sandboxes, or in production (`live`).'),
  SortOrder: closed(SortOrder, '`asc` is oldest first, `desc` is newest first.'),
  SimulatedOutcome: closed(SimulatedOutcome, 'The decision of the rail about a simulated payment.'),
};
