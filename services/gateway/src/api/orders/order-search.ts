import { checksummed, isEvmAddress } from '@cpg/assets';
import {
  AmountDto,
  FiatCurrency,
  ID_PREFIXES,
  invalidRequest,
  OrderId,
  PaymentCurrency,
  PaymentId,
  RefundId,
} from '@cpg/contracts';
import { kindOf, named } from '../ids.ts';
import type { Filter } from '../lists/cursor.ts';
import { spellings } from '../lists/page.ts';

/** The forms that `search` has, as descriptions and errors name them. */
export const SEARCH_FORMS =
  'an id of an order, a payment or a refund; an `external_reference_id`; a payment reference; a deposit address; the hash of a transaction; or a total, with a decimal point or its currency: `12.50`, `12 USDC`';

/** Orders that a text finds, by its form: by a total, or by what names one of them. */
export type OrderSearch =
  | { readonly by: 'total'; readonly amount: string; readonly currencies: readonly PaymentCurrency[] }
  | { readonly by: 'name'; readonly filter: Filter };

/** Throws `invalid_request` for a text that looks like one of the forms and has a mistake. */
export const readSearch = (text: string): OrderSearch => {
  const fault = faultIn(text);
  if (fault !== null) throw invalidRequest([{ path: 'search', message: fault }]);
  const total = totalIn(text);
  return total ? { by: 'total', ...total } : { by: 'name', filter: nameFilter(text) };
};

const TOTAL = /^(\d+(?:\.\d+)?)(?: ([A-Z]+))?$/;

/** Digits alone are a reference. */
const totalIn = (text: string) => {
  const [, amount = '', currency] = TOTAL.exec(text) ?? [];
  if (!AmountDto.safeParse(amount).success || (currency === undefined && !amount.includes('.'))) return null;
  const currencies = PaymentCurrency.options.filter((each) => currency === undefined || each === currency);
  return currencies.length > 0 ? { amount, currencies } : null;
};

/** The ids of orders: of orders themselves, and of those to which something belongs. */
const ORDERS_OF = {
  order: 'select id from orders.api_orders where not deleted',
  payment: 'select order_id from payments.api_payments where not deleted',
  refund: 'select order_id from payments.api_refunds where true',
  payable: 'select order_id from payments.api_payables where true',
};

/** SQL that selects the ids of a merchant's orders. `owner` is the place of the merchant, `condition` is one on the rows
 *  of `from`. */
export const ofMerchant = (from: keyof typeof ORDERS_OF, owner: string, condition: string): string =>
  `${ORDERS_OF[from]} and merchant_id = ${owner} and ${condition}`;

/** Every text may be a reference, also one with the form of an id, an address or a hash. */
const nameFilter = (text: string): Filter => {
  const [values, ...conditions] = namesIn(text);
  return [
    'search',
    values,
    (place, owner) => {
      const found = [
        ofMerchant('order', owner, `external_reference_id = any(${place})`),
        ofMerchant('payable', owner, `reference = any(${place})`),
        ...conditions.map(([from, column]) =>
          from === 'order' ? `select unnest(${place})` : ofMerchant(from, owner, `${column} = any(${place})`),
        ),
      ];
      return `id = any(array(${found.join(' union ')}))`;
    },
  ];
};

type Names = [
  values: readonly string[],
  ...(readonly [from: keyof typeof ORDERS_OF, column: 'id' | 'tx_hash' | 'address'])[],
];

/** The spellings of a text, and the columns beside those of references in which they may be. */
const namesIn = (text: string): Names => {
  if (OrderId.safeParse(text).success) return [[text], ['order', 'id']];
  if (PaymentId.safeParse(text).success) return [[text], ['payment', 'id']];
  if (RefundId.safeParse(text).success) return [[text], ['refund', 'id']];
  if (HASH.test(text)) return [spellings(text, text.toLowerCase()), ['payment', 'tx_hash']];
  if (isEvmAddress(text)) return [spellings(text, checksummed(text.slice(2))), ['payable', 'address']];
  if (BECH32_ADDRESS.test(text)) return [spellings(text, text.toLowerCase()), ['payable', 'address']];
  if (BASE58_ADDRESS.test(text)) return [[text], ['payable', 'address']];
  return [[text]];
};

const HASH = /^(?:0x)?[0-9a-f]{64}$/i;
// Bech32 may be in capital letters, as QR codes have it. Base58 tells letters by their case.
const BECH32_ADDRESS = /^(?:bc|tb|bcrt)1[02-9ac-hj-np-z]{11,87}$/i;
const BASE58_ADDRESS = /^[123mn][1-9A-HJ-NP-Za-km-z]{25,34}$/;

const WAY_OUT = '. To find a reference of this form, use `external_reference_id`';

/** Why a text that looks like an id, an address, a hash or an amount is none; null if there is no such reason. */
const faultIn = (text: string): string | null => {
  const kind = kindOf(text);
  if (kind !== undefined && kind !== 'order' && kind !== 'payment' && kind !== 'refund')
    return `looks like the id of ${named(kind)}: search for ${SEARCH_FORMS}${WAY_OUT}`;
  if (kind !== undefined && ![OrderId, PaymentId, RefundId].some((id) => id.safeParse(text).success))
    return `looks like the id of ${named(kind)}, which has \`${ID_PREFIXES[kind]}_\` and 26 capital letters and digits${WAY_OUT}`;
  const [, digits] = /^0x([0-9a-fA-F]+)$/.exec(text) ?? [];
  if (digits !== undefined && digits.length !== 40 && digits.length !== 64)
    return `has ${digits.length} characters after 0x: an address has 40, the hash of a transaction 64${WAY_OUT}`;
  const isMixed = digits?.length === 40 && /[a-f]/.test(digits) && /[A-F]/.test(digits);
  if (isMixed && checksummed(digits) !== text)
    return `has a wrong character: the checksum of the address does not fit${WAY_OUT}`;
  return faultInAmount(text);
};

const faultInAmount = (text: string): string | null => {
  const [, sign, number = '', unit = ''] = /^([-$€£]?)(\d[\d.,]*) ?([A-Za-z]{3,4})?$/.exec(text) ?? [];
  const isCurrency = PaymentCurrency.options.some((currency) => currency === unit.toUpperCase());
  const looksLikeAmount =
    sign || /^\d+(,\d{3})*[.,]\d+$/.test(number) || isCurrency || FiatCurrency.safeParse(unit).success;
  if (!looksLikeAmount || totalIn(text)) return null;
  if (unit && !isCurrency)
    return `${unit} is no currency that orders are paid in: use ${PaymentCurrency.options.join(', ')}${WAY_OUT}`;
  return `looks like an amount: write digits, a decimal point and maybe the currency, like \`1250.00\` or \`12 USDC\`${WAY_OUT}`;
};
