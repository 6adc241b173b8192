import {
  Address,
  BusinessProfile,
  Capabilities,
  CapabilitiesDto,
  CreateWebhookDto,
  CryptoDepositInstruction,
  Delivery,
  DeliveryAttempt,
  DeliveryWithAttempts,
  DepositInstruction,
  ErrorBody,
  GatewayPayInstruction,
  HistoryEntry,
  IndividualProfile,
  Item,
  ItemDto,
  Merchant,
  MerchantCreateOrderDto,
  Metadata,
  MetadataDto,
  Modifier,
  ModifierDto,
  Order,
  OrderDeletion,
  OrderWebhookPayload,
  Payment,
  PaymentMethod,
  PaymentPageSettings,
  PaymentPageSettingsDto,
  ProviderPayment,
  RecordedProviderPayment,
  PaymentWebhookPayload,
  Rate,
  Refund,
  Rates,
  Replay,
  TestDelivery,
  UpdateOrderDto,
  Webhook,
  WebhookPayload,
} from '@cpg/contracts';
import { z } from 'zod';
import { AdvanceTimeBody, TestWebhookBody } from '../api/debug/debug-routes.ts';
import { FailPaymentBody, RegisterPaymentBody } from '../api/debug/debug-payment-routes.ts';
import { OrderHistoryPage, OrderPage } from '../api/orders/order-schemas.ts';
import { PaymentPage, RefundPaymentBody } from '../api/payments/payment-routes.ts';
import { RefundPage } from '../api/refunds/refund-routes.ts';
import { DeliveryPage, ReplayPage, ReplayWebhookBody } from '../api/deliveries/delivery-schemas.ts';
import { UpdateWebhookBody, WebhookCreated, WebhookDeletion, WebhookPage } from '../api/webhooks/webhook-schemas.ts';
import * as examples from './examples.ts';

/** The field by which a reader tells the variants of a union, and the schema of each of its values. */
const discriminatedBy = (propertyName: string, schemas: Record<string, string>) => ({
  discriminator: {
    propertyName,
    mapping: Object.fromEntries(
      Object.entries(schemas).map(([value, name]) => [value, `#/components/schemas/${name}`]),
    ),
  },
});

/** The named schemas of the document, with an example of each where there is one. */
const COMPONENTS: Record<string, readonly [schema: z.ZodType, example?: unknown, more?: object]> = {
  Order: [Order, examples.order],
  OrderPage: [OrderPage],
  OrderHistoryPage: [OrderHistoryPage],
  HistoryEntry: [HistoryEntry, examples.historyEntry],
  OrderDeletion: [OrderDeletion, { id: examples.order.id, deleted: true }],
  MerchantCreateOrderDto: [MerchantCreateOrderDto, examples.createOrder],
  UpdateOrderDto: [UpdateOrderDto, { metadata: { table: 'B7' } }],
  Item: [Item],
  ItemDto: [ItemDto],
  Modifier: [Modifier],
  ModifierDto: [ModifierDto],
  Capabilities: [Capabilities],
  CapabilitiesDto: [CapabilitiesDto],
  Rates: [Rates],
  Rate: [Rate],
  DepositInstruction: [
    DepositInstruction,
    undefined,
    discriminatedBy('rail', { crypto_deposit: 'CryptoDepositInstruction', gateway_pay: 'GatewayPayInstruction' }),
  ],
  CryptoDepositInstruction: [CryptoDepositInstruction],
  GatewayPayInstruction: [GatewayPayInstruction],
  Payment: [Payment, examples.payment],
  PaymentPage: [PaymentPage],
  ProviderPayment: [ProviderPayment, examples.providerPayment],
  RecordedProviderPayment: [RecordedProviderPayment],
  RefundPayment: [RefundPaymentBody, { amount: '10.5', reason: 'one dish was not served' }],
  Refund: [Refund, examples.refund],
  RefundPage: [RefundPage],
  Merchant: [Merchant, examples.merchant],
  IndividualProfile: [IndividualProfile],
  BusinessProfile: [BusinessProfile],
  Address: [Address],
  PaymentMethod: [PaymentMethod],
  PaymentPageSettings: [PaymentPageSettings, examples.paymentPageSettings],
  PaymentPageSettingsDto: [PaymentPageSettingsDto, examples.replacePaymentPageSettings],
  Webhook: [Webhook, examples.webhook],
  WebhookPage: [WebhookPage],
  WebhookWithSecret: [WebhookCreated, { ...examples.webhook, secret: examples.webhookSecret }],
  WebhookDeletion: [WebhookDeletion, { id: examples.webhook.id, deleted: true }],
  CreateWebhookDto: [CreateWebhookDto, { url: examples.webhook.url, events: examples.webhook.events }],
  UpdateWebhookDto: [UpdateWebhookBody, { is_enabled: true }],
  Delivery: [Delivery, examples.delivery],
  DeliveryPage: [DeliveryPage],
  DeliveryAttempt: [DeliveryAttempt],
  DeliveryWithAttempts: [DeliveryWithAttempts, examples.deliveryWithAttempts],
  WebhookPayload: [
    WebhookPayload,
    examples.payloadOf('payment:applied'),
    discriminatedBy('object_type', { order: 'OrderWebhookPayload', payment: 'PaymentWebhookPayload' }),
  ],
  OrderWebhookPayload: [OrderWebhookPayload, examples.payloadOf('order:paid')],
  PaymentWebhookPayload: [PaymentWebhookPayload, examples.payloadOf('payment:applied')],
  Replay: [Replay, examples.replay],
  ReplayPage: [ReplayPage],
  ReplayWebhook: [ReplayWebhookBody, examples.replayWebhook],
  RegisterPayment: [RegisterPaymentBody, examples.registerPayment],
  FailPayment: [FailPaymentBody, { reason: 'reorg' }],
  AdvanceTime: [AdvanceTimeBody, { minutes: 61 }],
  TestWebhook: [TestWebhookBody, { webhook_id: examples.webhook.id, event_type: 'order:paid' }],
  TestDelivery: [TestDelivery, { delivery_id: 'dlv_01KG9Q2T8R7M5N3V1X0Z4Y6W8S' }],
  Metadata: [Metadata, { table: 'B7' }],
  MetadataDto: [MetadataDto, { table: 'B7' }],
  Error: [ErrorBody],
};

/** Registers the schema names, so that the document refers to schemas by name. */
export const registerComponents = (): void => {
  for (const [id, [schema, example, more]] of Object.entries(COMPONENTS)) {
    const known = z.globalRegistry.get(schema);
    if (!known?.id)
      z.globalRegistry.add(schema, { ...known, id, ...(example !== undefined && { examples: [example] }), ...more });
  }
};
