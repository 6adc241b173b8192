import { z } from 'zod';
import {
  defineEvent,
  type EventDefinition,
  type EventOf,
  newEvent,
  openObject,
  recordedEvent,
} from './event-definition.ts';
import { ID_PREFIXES, MerchantId, Timestamp } from './ids.ts';

/** The names of the streams of merchants start with this prefix; the id of the merchant follows. */
export const MERCHANT_STREAM_PREFIX = 'merchant-';

/** Values of a field before and after a change, as the API shows them; null for none. Both are absent for personal
 *  data: then only the change is recorded, because events are kept when a user is deleted. */
const VALUES = { before: z.unknown().optional(), after: z.unknown().optional() };
const FieldChange = openObject(VALUES);
export type FieldChange = z.infer<typeof FieldChange>;

/** Fields whose values are not recorded. */
export const PERSONAL_FIELDS: ReadonlySet<string> = new Set([
  'email',
  'name',
  'individual_profile',
  'business_profile',
  'metadata',
]);

const changesOf = (fields: readonly string[]): z.ZodType<Record<string, FieldChange>> =>
  z
    .record(z.string(), z.strictObject(VALUES))
    .refine((changes) => Object.keys(changes).every((name) => fields.includes(name)), {
      error: `may have no other fields than ${fields.join(', ')}`,
    });

/** An event about a change of what belongs to a merchant. `fields` are those that it may show: none has a secret. */
const define = <const T extends string>(
  type: T,
  subject: keyof typeof ID_PREFIXES,
  summary: string,
  fields: readonly string[] = [],
) =>
  defineEvent({
    type,
    message: null,
    webhooks: [],
    summary,
    data: {
      merchantId: MerchantId,
      /** The id of the key, user, webhook or merchant that changed. */
      subject: z.string(),
      changes: z.record(z.string(), FieldChange),
      /** What the operator or the service gave as reason. */
      reason: z.string().optional(),
      at: Timestamp,
    },
    limits: { subject: z.string().startsWith(`${ID_PREFIXES[subject]}_`), changes: changesOf(fields) },
  });

const KEY_FIELDS = ['label', 'scopes', 'allowed_ips'];
const WEBHOOK_FIELDS = ['events', 'label', 'filter'];
const MERCHANT_FIELDS = ['type', 'external_reference_id', 'payment_methods'];
const PROFILE_FIELDS = ['individual_profile', 'business_profile', 'metadata'];
const DEFAULTS_FIELDS = ['enable_rails', 'payment_currency', 'capabilities'];

/** Every recorded change of API keys, users, webhooks and merchants. */
export const MERCHANT_EVENTS = [
  define('ApiKeyCreated', 'apiKey', 'An API key was created.', [...KEY_FIELDS, 'prefix', 'expires_at']),
  define('ApiKeyChanged', 'apiKey', 'The scopes, addresses or label of an API key changed.', KEY_FIELDS),
  define('ApiKeyRotated', 'apiKey', 'An API key got a successor, and expires.', ['successor', 'expires_at']),
  define('ApiKeyRevoked', 'apiKey', 'An API key was revoked.'),
  define('UserInvited', 'user', 'A user was created.', ['email', 'name', 'role']),
  define('UserChanged', 'user', 'The name, role or status of a user changed.', ['name', 'role', 'status']),
  define('UserDeleted', 'user', 'A user was deleted.', ['role']),
  define('SignInLinkCreated', 'user', 'A link was made that signs a user in.'),
  define('TotpAdded', 'user', 'Sign-ins of a user need codes of an authenticator app from now on.'),
  define('TotpRemoved', 'user', 'Sign-ins of a user no longer need codes of an authenticator app.'),
  define('PasskeyAdded', 'user', 'A user added a passkey.', ['passkey']),
  define('PasskeyRemoved', 'user', 'A user removed a passkey.', ['passkey']),
  define('PasswordChanged', 'user', 'A user set a password.'),
  // The path of a URL can be a secret.
  define('WebhookCreated', 'webhook', 'A webhook was created.', [...WEBHOOK_FIELDS, 'origin']),
  define('WebhookChanged', 'webhook', 'A webhook changed.', [...WEBHOOK_FIELDS, 'is_enabled']),
  define('WebhookDisabled', 'webhook', 'The service disabled a webhook, because its deliveries failed.'),
  define('WebhookSecretRotated', 'webhook', 'A webhook got a new signing secret.'),
  define('WebhookDeleted', 'webhook', 'A webhook was deleted.'),
  define('MerchantCreated', 'merchant', 'A merchant was created.', [...MERCHANT_FIELDS, ...PROFILE_FIELDS]),
  define('MerchantChanged', 'merchant', 'A merchant changed.', [...MERCHANT_FIELDS, ...PROFILE_FIELDS]),
  define('MerchantDisabled', 'merchant', 'An operator disabled a merchant.'),
  define('MerchantEnabled', 'merchant', 'An operator enabled a merchant again.'),
  define('OrderDefaultsChanged', 'merchant', 'The defaults of new orders changed.', DEFAULTS_FIELDS),
  define('PaymentPageChanged', 'merchant', 'The look of the payment page changed.', [
    'display_name',
    'accent_color',
    'contact',
    'logo_url',
    'frame_ancestors',
  ]),
] as const satisfies readonly EventDefinition[];

export type MerchantEvent = EventOf<(typeof MERCHANT_EVENTS)[number]>;
export const MerchantEvent: z.ZodType<MerchantEvent> = recordedEvent(MERCHANT_EVENTS);
export const NewMerchantEvent: z.ZodType<MerchantEvent> = newEvent(MERCHANT_EVENTS);

export const MerchantEventType = z.enum(MERCHANT_EVENTS.map(({ type }) => type));
export type MerchantEventType = z.infer<typeof MerchantEventType>;
