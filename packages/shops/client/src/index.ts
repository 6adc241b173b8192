export type { Coin } from './coins.ts';
export type { LookedUp } from './look-up.ts';
export { type Decision, type DecisionKind, type Meaning, meaningOf, type ShopState } from './meaning.ts';
export {
  decimalsOf,
  decimalText,
  minorOfDecimal,
  type Money,
  priceCurrency,
  rescaled,
  shownMoney,
} from './money/amount.ts';
export { type CartFault, type CartLine, itemsOf } from './money/items.ts';
export type { Cart, Orders, Refund } from './orders.ts';
export type { Fault, Outcome } from './outcome.ts';
export { reasonOf } from './reason.ts';
export { createShop, type Log, type Shop, type ShopOptions } from './shop.ts';
export type { Store } from './store.ts';
export type { OrderHandler, Received } from './webhook/receive.ts';
