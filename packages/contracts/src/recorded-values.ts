import { z } from 'zod';
import { ItemCurrency, ItemKind, PaymentCurrency, PaymentRail } from './currencies.ts';
import { openObject } from './event-definition.ts';
import { Timestamp } from './ids.ts';
import { Decimals, Minor } from './money.ts';

// Values inside recorded events. They have the shape of the API values of the same name, without the limits of the API:
// tightening a limit must not make recorded events unreadable. Fields are never removed, and new fields are optional.

export const RecordedMetadata = z.record(z.string(), z.json());

const line = { name: z.string(), quantity: z.number(), unit_price: z.string(), currency: ItemCurrency };

export const RecordedItem = openObject({
  ...line,
  kind: ItemKind.optional(),
  modifiers: z.array(openObject(line)).optional(),
});

export const RecordedCapabilities = openObject({
  can_cancel: z.boolean(),
  can_update: z.boolean(),
  can_overpay: z.boolean(),
  partial_payments: z.boolean(),
  express_checkout: z.boolean(),
  expiration_auto_renewal: z.boolean(),
});

const RecordedRate = openObject({ rate: z.string(), source: z.string(), quoted_at: Timestamp, expires_at: Timestamp });

export const RecordedRates = z.partialRecord(ItemCurrency, RecordedRate);

/** The money of a payment, as its rail reported it. */
export const RecordedMoney = {
  rail: PaymentRail,
  providerId: z.string(),
  currency: PaymentCurrency,
  /** Decimals of the minor units of the payment. They stay, whatever the configuration is later. */
  decimals: Decimals,
  /** CAIP-19 of the asset that arrived, as its chain shows it. */
  asset: z.string().optional(),
  /** The name that wallets show for it, where it is not the currency. */
  assetLabel: z.string().optional(),
  /** False for a token that counts as the currency only if the order asked for that token. True by default. */
  credited: z.boolean().optional(),
  amountMinor: Minor,
  feeMinor: Minor,
};

/** A block of a chain. */
export const RecordedBlock = openObject({ height: z.int(), hash: z.string() });

/** Which key produced an address: BIP32 fingerprint of the account xpub, and the path below it. */
const Derivation = openObject({ fingerprint: z.string(), path: z.string() });

const address = { network: z.string(), address: z.string(), derivation: Derivation };

export const RecordedDeposit = openObject(address);
export type RecordedDeposit = z.infer<typeof RecordedDeposit>;

/** Where an order could be paid. Without amounts, because it outlives the order. */
export const RecordedPayable = z.discriminatedUnion('rail', [
  openObject({ rail: z.literal('crypto_deposit'), ...address }),
  openObject({
    rail: z.literal('gateway_pay'),
    provider: z.string(),
    paymentReference: z.string(),
    deposits: z.array(RecordedDeposit).optional(),
  }),
]);
export type RecordedPayable = z.infer<typeof RecordedPayable>;

/** The deposit addresses of an instruction. Money at them is money of the instruction's rail. */
export const depositsOf = (instruction: RecordedPayable): readonly RecordedDeposit[] =>
  instruction.rail === 'crypto_deposit' ? [instruction] : (instruction.deposits ?? []);

/** The names of the gateway itself as a provider of payment pages. */
export const OWN_PROVIDERS: readonly string[] = ['hosted', 'sandbox'];

/** The reference of an instruction at an outside provider, which alone knows what was paid by it. Null for any
 *  other. */
export const outsideReferenceOf = (instruction: RecordedPayable): { provider: string; reference: string } | null =>
  instruction.rail === 'gateway_pay' && !OWN_PROVIDERS.includes(instruction.provider)
    ? { provider: instruction.provider, reference: instruction.paymentReference }
    : null;

const deposit = {
  ...address,
  chainId: z.string(),
  asset: z.string(),
  /** The name that wallets show for the asset, where it is not the currency. */
  assetLabel: z.string().optional(),
  /** Decimals of the asset on its chain. */
  decimals: z.int(),
  /** Decimals of the currency's minor units. */
  currencyDecimals: z.int(),
  requiredConfirmations: z.int(),
  /** The smallest amount that can be paid. Absent if it is one minor unit. */
  smallestPayableMinor: Minor.optional(),
  /** Wallets take multiples of it. Absent if it is one minor unit. */
  payableStepMinor: Minor.optional(),
};

export const AssignedDeposit = openObject(deposit);
export type AssignedDeposit = z.infer<typeof AssignedDeposit>;

/** Where to pay, as assigned by the rail. Fields that depend on the remaining amount are computed when the order is
 *  rendered. */
export const AssignedInstruction = z.discriminatedUnion('rail', [
  openObject({
    rail: z.literal('crypto_deposit'),
    currency: PaymentCurrency,
    ...deposit,
  }),
  openObject({
    rail: z.literal('gateway_pay'),
    currency: PaymentCurrency,
    provider: z.string(),
    paymentReference: z.string(),
    paymentUrl: z.string(),
    /** Absent: the payment URL. */
    qrContent: z.string().optional(),
    /** The addresses behind the payment page: one per network that can take the amount. */
    deposits: z.array(AssignedDeposit).optional(),
  }),
]);
export type AssignedInstruction = z.infer<typeof AssignedInstruction>;
