import {
  type Cart,
  type CartLine,
  decimalsOf,
  minorOfDecimal,
  type Money,
  priceCurrency,
  rescaled,
} from '@cpg/shop-client';

/** What of an order of Vendure a payment depends on. Its amounts are integers with `precision` decimals, whatever the
 *  currency: 2 by default, also for yen. */
export interface VendureOrder {
  readonly code: string;
  readonly currencyCode: string;
  readonly totalWithTax: number;
  readonly lines: readonly {
    readonly quantity: number;
    readonly linePriceWithTax: number;
    readonly productVariant: { readonly name: string };
  }[];
  readonly shippingLines: readonly {
    readonly priceWithTax: number;
    readonly shippingMethod?: { readonly name: string } | null;
  }[];
  readonly surcharges: readonly { readonly description: string; readonly priceWithTax: number }[];
  readonly discounts: readonly { readonly description: string; readonly amountWithTax: number }[];
}

/** The amount as money of the gateway. Undefined if the gateway takes no prices in this currency. */
export const moneyOf = (amount: number, currencyCode: string, precision: number): Money | undefined => {
  const currency = priceCurrency(currencyCode);
  return currency && { minor: rescaled(BigInt(amount), precision, decimalsOf(currency)), currency };
};

/** The cart that the gateway gets: what Vendure shows, taxes included, and what other payments have covered already. */
export const cartOf = (
  order: VendureOrder,
  covered: number,
  precision: number,
): Pick<Cart, 'reference' | 'lines' | 'total'> | undefined => {
  const total = moneyOf(order.totalWithTax - covered, order.currencyCode, precision);
  if (!total) return undefined;
  const minorOf = (amount: number) => moneyOf(amount, order.currencyCode, precision)!.minor;
  const lines: CartLine[] = [
    ...order.lines
      .filter(({ quantity }) => quantity > 0)
      .map((line) => ({
        name: line.productVariant.name,
        quantity: line.quantity,
        minor: minorOf(line.linePriceWithTax),
      })),
    ...order.surcharges.map((one) => ({ name: one.description, minor: minorOf(one.priceWithTax) })),
    ...order.shippingLines.map((one) => ({
      name: one.shippingMethod?.name ?? 'Shipping',
      minor: minorOf(one.priceWithTax),
      kind: 'shipping' as const,
    })),
    ...order.discounts.map((one) => ({
      name: one.description,
      minor: minorOf(one.amountWithTax),
      kind: 'discount' as const,
    })),
  ];
  if (covered !== 0) lines.push({ name: 'Paid already', minor: -minorOf(covered) });
  return { reference: order.code, lines, total };
};

/** How much of the cart a paid order of the gateway covers, in Vendure's integers: what is due if the order was made of
 *  this amount, and the price of the order if the cart has changed since. Undefined for another currency. */
export const coveredBy = (
  itemTotals: Readonly<Record<string, string>>,
  due: number,
  currencyCode: string,
  precision: number,
): number | undefined => {
  const money = moneyOf(due, currencyCode, precision);
  const price = money && itemTotals[money.currency];
  if (money === undefined || price === undefined) return undefined;
  const decimals = decimalsOf(money.currency);
  const paid = minorOfDecimal(price, decimals);
  return paid === money.minor ? due : Number(rescaled(paid, decimals, precision));
};
