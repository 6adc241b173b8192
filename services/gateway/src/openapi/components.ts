import {
  AcceptOrder,
  AcceptedCurrency,
  Address,
  BusinessProfile,
  Capabilities,
  CapabilitiesDto,
  CryptoDepositInstruction,
  Currencies,
  CurrencyRail,
  Delivery,
  DeliveryAttempt,
  DeliveryWithAttempts,
  DepositInstruction,
  BlockRef,
  CancelOrderDto,
  ErrorBody,
  ErrorDetail,
  exampleOf,
  GatewayPayInstruction,
  HISTORY_DATA,
  HISTORY_ENTRIES,
  HistoryAllocation,
  HistoryEntry,
  HistoryInstruction,
  HistoryPayment,
  IndividualProfile,
  Item,
  ItemDto,
  ItemTotals,
  Merchant,
  MerchantCreateOrderDto,
  Metadata,
  MetadataDto,
  Modifier,
  ModifierDto,
  Order,
  ORDER_EVENTS,
  OrderDefaults,
  OrderDefaultsDto,
  OrderDeletion,
  OrderReference,
  OrderRefund,
  OrderRefundPart,
  OrderWebhookPayload,
  Payment,
  PAYMENT_EVENTS,
  PaymentMethod,
  PaymentPageSettings,
  PaymentPageSettingsDto,
  PaymentWebhookPayload,
  PriceCurrency,
  PriceLimit,
  ProviderPayment,
  RailNetwork,
  Rate,
  Rates,
  RecordedProviderPayment,
  Refund,
  RefundClaim,
  RefundRequest,
  Replay,
  samplePayloadOf,
  UpdateMerchantDto,
  UpdateOrderDto,
  Webhook,
  WebhookPayload,
} from '@cpg/contracts';
import { z } from 'zod';
import {
  ApiKey,
  ApiKeyPage,
  ApiKeyWithSecret,
  CreateApiKeyDto,
  RotateApiKeyDto,
  UpdateApiKeyDto,
} from '../api/api-keys/api-key-schemas.ts';
import {
  AdvanceTimeBody,
  FailPaymentBody,
  RegisterPaymentBody,
  SentTest,
  TestWebhookBody,
} from '../api/debug/debug-schemas.ts';
import { DeliveryPage, ReplayPage, ReplayWebhookBody } from '../api/deliveries/delivery-schemas.ts';
import { OrderHistoryPage, OrderPage, RefundOrderBody } from '../api/orders/order-schemas.ts';
import { ConfirmationRule, DepositAccount, DepositSettings, RefundAddress } from '../api/merchants/deposit-settings.ts';
import { Attention, CountedAmounts, CountedList, CurrencyTotal, Overview } from '../api/overview/overview-schemas.ts';
import { PaymentPage, RefundedPayment, RefundPaymentBody } from '../api/payments/payment-routes.ts';
import { CreateRefundClaimBody } from '../api/refunds/claim-routes.ts';
import { CreateRefundRequestBody, RefundPage } from '../api/refunds/refund-routes.ts';
import {
  CreateWebhookBody,
  UpdateWebhookBody,
  WebhookCreated,
  WebhookDeletion,
  WebhookPage,
} from '../api/webhooks/webhook-schemas.ts';
import { ENUMS } from './enums.ts';

/** The field by which a reader tells the variants of a union, and the schema of each of its values. */
const discriminatedBy = (propertyName: string, schemas: Record<string, string>) => ({
  discriminator: {
    propertyName,
    mapping: Object.fromEntries(
      Object.entries(schemas).map(([value, name]) => [value, `#/components/schemas/${name}`]),
    ),
  },
});

const renamed = <T>(values: Readonly<Record<string, T>>, nameOf: (name: string) => string): Record<string, T> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [nameOf(name), value]));

const entryName = (type: string) => `${type}Entry`;

/** The named schemas of the document. */
export const COMPONENTS: Readonly<Record<string, z.ZodType>> = {
  Order,
  OrderPage,
  OrderHistoryPage,
  HistoryEntry,
  ...renamed<z.ZodType>(HISTORY_ENTRIES, entryName),
  ...renamed<z.ZodType>(HISTORY_DATA, (type) => `${type}Data`),
  HistoryInstruction,
  HistoryPayment,
  HistoryAllocation,
  OrderDeletion,
  MerchantCreateOrderDto,
  UpdateOrderDto,
  AcceptOrder,
  CancelOrderDto,
  Item,
  ItemDto,
  ItemTotals,
  Modifier,
  ModifierDto,
  Capabilities,
  CapabilitiesDto,
  Rates,
  Rate,
  DepositInstruction,
  CryptoDepositInstruction,
  GatewayPayInstruction,
  Payment,
  PaymentPage,
  ProviderPayment,
  RecordedProviderPayment,
  RefundPayment: RefundPaymentBody,
  RefundedPayment,
  Refund,
  OrderRefund,
  OrderRefundPart,
  RefundOrder: RefundOrderBody,
  RefundRequest,
  CreateRefundRequest: CreateRefundRequestBody,
  RefundClaim,
  CreateRefundClaim: CreateRefundClaimBody,
  RefundPage,
  Merchant,
  OrderDefaults,
  UpdateMerchantDto,
  OrderDefaultsDto,
  IndividualProfile,
  BusinessProfile,
  Address,
  PaymentMethod,
  PaymentPageSettings,
  PaymentPageSettingsDto,
  DepositSettings,
  DepositAccount,
  ConfirmationRule,
  RefundAddress,
  Overview,
  CountedList,
  CountedAmounts,
  CurrencyTotal,
  Attention,
  Currencies,
  PriceCurrency,
  AcceptedCurrency,
  CurrencyRail,
  RailNetwork,
  PriceLimit,
  ApiKey,
  ApiKeyPage,
  ApiKeyWithSecret,
  CreateApiKeyDto,
  UpdateApiKeyDto,
  RotateApiKeyDto,
  Webhook,
  WebhookPage,
  WebhookWithSecret: WebhookCreated,
  WebhookDeletion,
  CreateWebhookDto: CreateWebhookBody,
  UpdateWebhookDto: UpdateWebhookBody,
  Delivery,
  DeliveryPage,
  DeliveryAttempt,
  DeliveryWithAttempts,
  WebhookPayload,
  OrderWebhookPayload,
  PaymentWebhookPayload,
  OrderReference,
  Replay,
  ReplayPage,
  ReplayWebhook: ReplayWebhookBody,
  RegisterPayment: RegisterPaymentBody,
  FailPayment: FailPaymentBody,
  AdvanceTime: AdvanceTimeBody,
  TestWebhook: TestWebhookBody,
  TestDelivery: SentTest,
  Metadata,
  MetadataDto,
  Block: BlockRef,
  ApiError: ErrorBody,
  ApiErrorDetail: ErrorDetail,
  ...Object.fromEntries(Object.entries(ENUMS).map(([name, { schema }]) => [name, schema])),
};

/** Parts that the schemas in contracts lack: discriminators, texts of enums, and examples that are made from samples of events. */
const ADDED = new Map<z.ZodType, object>([
  ...Object.values(ENUMS).map(({ schema, meta }) => [schema, meta] as const),
  [
    DepositInstruction,
    discriminatedBy('rail', { crypto_deposit: 'CryptoDepositInstruction', gateway_pay: 'GatewayPayInstruction' }),
  ],
  [
    HistoryEntry,
    discriminatedBy('type', Object.fromEntries(Object.keys(HISTORY_ENTRIES).map((type) => [type, entryName(type)]))),
  ],
  ...[...ORDER_EVENTS, ...PAYMENT_EVENTS].map(
    ({ type, summary }) => [HISTORY_ENTRIES[type], { description: summary }] as const,
  ),
  [
    WebhookPayload,
    {
      ...discriminatedBy('object_type', { order: 'OrderWebhookPayload', payment: 'PaymentWebhookPayload' }),
      examples: [samplePayloadOf('payment:applied')],
    },
  ],
  [OrderWebhookPayload, { examples: [samplePayloadOf('order:paid')] }],
  [PaymentWebhookPayload, { examples: [samplePayloadOf('payment:applied')] }],
  [
    DeliveryWithAttempts,
    { examples: [{ ...exampleOf(DeliveryWithAttempts), payload: samplePayloadOf('payment:applied') }] },
  ],
]);

/** Registers the schema names, so that the document refers to schemas by name. The registry is global: a second app in
 *  the process finds the names there. */
export const registerComponents = (): void => {
  for (const [id, schema] of Object.entries(COMPONENTS)) {
    const known = z.globalRegistry.get(schema) ?? {};
    if (known.id) continue;
    const example = exampleOf(schema);
    z.globalRegistry.add(schema, {
      ...known,
      id,
      ...(example !== undefined && { examples: [example] }),
      ...ADDED.get(schema),
    });
  }
};
