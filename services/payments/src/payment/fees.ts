import {
  Amount,
  decimalsIn,
  divideHalfEven,
  MerchantId,
  PaymentCurrency,
  type PaymentRail,
  type Scales,
  toMinor,
} from '@cpg/contracts';
import { z } from 'zod';

const Amounts = z.partialRecord(PaymentCurrency, Amount);

/** fee = percent of the payment + fixed, at least min, at most max. */
export const FeeRule = z.strictObject({
  percent_bps: z.int().min(0).max(10_000),
  fixed: Amounts.optional(),
  min: Amounts.optional(),
  max: Amounts.optional(),
});
export type FeeRule = z.infer<typeof FeeRule>;

const FeeRules = { gateway_pay: FeeRule, crypto_deposit: FeeRule } satisfies Record<PaymentRail, unknown>;

/** Fee rules by rail, and by merchant for special terms. Every change needs a new version, because each payment records
 *  the version of its fee. */
export const FeeSchedule = z.strictObject({
  version: z.string().min(1).max(64),
  rails: z.strictObject(FeeRules),
  merchants: z.record(MerchantId, z.strictObject(FeeRules).partial()).default({}),
});
export type FeeSchedule = z.infer<typeof FeeSchedule>;

/** A fee schedule whose amounts have at most the decimals of their currencies. */
export const feeScheduleIn = (scales: Scales) =>
  FeeSchedule.superRefine(({ rails, merchants }, context) => {
    const rules = [
      ...Object.entries(rails).map(([rail, rule]) => [['rails', rail], rule] as const),
      ...Object.entries(merchants).flatMap(([merchant, ofMerchant]) =>
        Object.entries(ofMerchant).map(([rail, rule]) => [['merchants', merchant, rail], rule] as const),
      ),
    ];
    for (const [path, rule] of rules)
      for (const kind of ['fixed', 'min', 'max'] as const)
        for (const [currency, amount] of Object.entries(rule?.[kind] ?? {})) {
          const decimals = scales[PaymentCurrency.parse(currency)];
          if (decimalsIn(amount) > decimals)
            context.addIssue({
              code: 'custom',
              path: [...path, kind, currency],
              message: `${currency} has ${decimals} decimals`,
            });
        }
  });

export interface Charged {
  readonly merchantId: string;
  readonly rail: PaymentRail;
  readonly currency: PaymentCurrency;
  /** Of the minor units of the payment. */
  readonly decimals: number;
  readonly amountMinor: bigint;
}

/** The fee of a payment in minor units of its currency. The percentage is rounded half-even; the fee never exceeds the
 *  payment. */
export const feeOf = (
  schedule: FeeSchedule,
  { merchantId, rail, currency, decimals, amountMinor }: Charged,
): bigint => {
  const rule = schedule.merchants[merchantId]?.[rail] ?? schedule.rails[rail];
  const minor = (amounts: FeeRule['fixed']) => {
    const amount = amounts?.[currency];
    return amount === undefined ? undefined : toMinor(amount, decimals);
  };
  const percentage = divideHalfEven(amountMinor * BigInt(rule.percent_bps), 10_000n);
  const atLeast = larger(percentage + (minor(rule.fixed) ?? 0n), minor(rule.min) ?? 0n);
  return smaller(smaller(atLeast, minor(rule.max) ?? atLeast), amountMinor);
};

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
