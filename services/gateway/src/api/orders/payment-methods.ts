import {
  type AppError,
  type FaultDetail,
  invalidRequest,
  type MerchantCreateOrderDto,
  type PaymentMethod,
} from '@cpg/contracts';

/** The refusal of rails that the merchant does not accept, or does not accept in the order's currency; null without
 *  one. */
export const paymentMethodRefusal = (
  { enable_rails, payment_currency }: Pick<MerchantCreateOrderDto, 'enable_rails' | 'payment_currency'>,
  methods: readonly PaymentMethod[],
): AppError | null => {
  const details = enable_rails.flatMap((rail, index): FaultDetail[] => {
    const method = methods.find(({ type }) => type === rail);
    const path = `enable_rails.${index}`;
    if (!method) return [{ path, message: `${rail} is not among the payment methods of this merchant` }];
    if (method.supported_currencies.includes(payment_currency)) return [];
    return [{ path, message: `${rail} does not support ${payment_currency} for this merchant` }];
  });
  return details.length > 0 ? invalidRequest(details) : null;
};
