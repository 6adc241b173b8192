import { z } from 'zod';
import { withUnknownTypes } from './event-definition.ts';
import { Timestamp } from './ids.ts';
import { TolerancePercent } from './resources/order.ts';

/** Deposit accounts and settings. One stream, so that two merchants cannot take one account. */
export const DEPOSIT_SETTINGS_STREAM = 'deposit-settings';

/** The account receives the deposits of the merchant on the network; if `merchantId` is null, those of all merchants
 *  without an account of their own there. The extended public key is the `secret` of the metadata, which no audit and
 *  no log shows. */
export const DepositAccountSet = z.object({
  type: z.literal('DepositAccountSet'),
  data: z.looseObject({
    merchantId: z.string().nullable(),
    network: z.string(),
    /** BIP32 fingerprint of the key. */
    account: z.string(),
    /** SHA-256 of the key as an xpub. Event hashes cover the data and not the metadata, so this value shows if somebody
     *  exchanged the key. */
    keyHash: z.string(),
    at: Timestamp,
  }),
});

/** The account of the platform receives the deposits of the merchant on this network again. */
export const DepositAccountRemoved = z.object({
  type: z.literal('DepositAccountRemoved'),
  data: z.looseObject({ merchantId: z.string(), network: z.string(), at: Timestamp }),
});

/** Payments of at least `fromMinor` to orders of the merchant need this many confirmations. */
export const DepositConfirmationsSet = z.object({
  type: z.literal('DepositConfirmationsSet'),
  data: z.looseObject({
    merchantId: z.string(),
    /** CAIP-19. */
    asset: z.string(),
    fromMinor: z.string(),
    confirmations: z.int(),
    at: Timestamp,
  }),
});

/** The confirmations of the operator's asset file apply to the merchant again, for all amounts. */
export const DepositConfirmationsRemoved = z.object({
  type: z.literal('DepositConfirmationsRemoved'),
  data: z.looseObject({ merchantId: z.string(), asset: z.string(), at: Timestamp }),
});

/** New orders of the merchant are settled although up to this part of their total is missing, in hundredths of a
 *  percent. An order can have a tolerance of its own. */
export const UnderpaymentToleranceSet = z.object({
  type: z.literal('UnderpaymentToleranceSet'),
  data: z.looseObject({ merchantId: z.string(), toleranceBps: z.int(), at: Timestamp }),
});

/** The merchant sends refunds on the network from this address. */
export const RefundAddressAdded = z.object({
  type: z.literal('RefundAddressAdded'),
  data: z.looseObject({ merchantId: z.string(), network: z.string(), address: z.string(), at: Timestamp }),
});

/** Refunds that get a destination from now on are not sent from this address. */
export const RefundAddressRemoved = z.object({
  type: z.literal('RefundAddressRemoved'),
  data: z.looseObject({ merchantId: z.string(), network: z.string(), address: z.string(), at: Timestamp }),
});

const EVENTS = [
  DepositAccountSet,
  DepositAccountRemoved,
  DepositConfirmationsSet,
  DepositConfirmationsRemoved,
  UnderpaymentToleranceSet,
  RefundAddressAdded,
  RefundAddressRemoved,
] as const;
export type DepositSettingsEvent = z.infer<(typeof EVENTS)[number]>;

/** Accepts event types that only a newer version knows; every fold ignores them. */
export const DepositSettingsEvent = withUnknownTypes(
  EVENTS.map((schema) => ({ type: schema.shape.type.value, schema })),
  z.object({ data: z.object({ at: Timestamp }) }),
) as unknown as z.ZodType<DepositSettingsEvent>;

/** Names the addresses that the orders service leases in advance: those of a network, or of a merchant's account on
 *  it. */
export const stockNameOf = (network: string, account?: string): string =>
  account === undefined ? network : `${network}/${account}`;

/** `GET /merchants/{id}/deposit-settings`, and the answer to a change. */
export const DepositSettingsView = z.object({
  accounts: z.array(
    z.object({
      network: z.string(),
      fingerprint: z.string(),
      owner: z.enum(['merchant', 'platform']),
      /** Levels below the master key: 3 by BIP44 and BIP84. */
      depth: z.int(),
      /** The address at path 0/0, to compare with the wallet. */
      first_address: z.string(),
    }),
  ),
  confirmations: z.array(
    z.object({
      asset: z.string(),
      currency: z.string(),
      network: z.string(),
      owner: z.enum(['merchant', 'platform']),
      from: z.string(),
      confirmations: z.int(),
    }),
  ),
  underpayment_tolerance_percent: z.number(),
  /** The addresses from which the merchant sends refunds. */
  refund_addresses: z.array(z.object({ network: z.string(), address: z.string() })),
});
export type DepositSettingsView = z.infer<typeof DepositSettingsView>;

const MAX_KEY_CHARACTERS = 256;

/** `POST /merchants/{id}/deposit-settings` -> 200 DepositSettingsView. Idempotent. */
export const DepositSettingsCall = z.discriminatedUnion('change', [
  z.object({
    change: z.literal('set_account'),
    network: z.string(),
    /** An extended public key. */
    key: z.string().max(MAX_KEY_CHARACTERS),
  }),
  z.object({ change: z.literal('remove_account'), network: z.string() }),
  z.object({
    change: z.literal('set_confirmations'),
    asset: z.string(),
    confirmations: z.int(),
    /** For payments of at least this amount, in the currency of the asset; of every amount by default. */
    from: z.string().max(64).optional(),
  }),
  z.object({ change: z.literal('remove_confirmations'), asset: z.string() }),
  z.object({ change: z.literal('set_tolerance'), percent: TolerancePercent }),
  z.object({ change: z.literal('add_refund_address'), network: z.string(), address: z.string().max(128) }),
  z.object({ change: z.literal('remove_refund_address'), network: z.string(), address: z.string().max(128) }),
]);
export type DepositSettingsCall = z.infer<typeof DepositSettingsCall>;
