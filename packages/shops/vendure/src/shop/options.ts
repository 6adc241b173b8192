export interface CryptoPaymentsOptions {
  /** The address of the gateway, like `https://pay.example.com`. */
  gatewayUrl: string;
  /** A key of the merchant: `ak_sandbox_…` or `ak_live_…`. */
  apiKey: string;
  /** A name that no other shop of the merchant has. It is `shop` in the metadata of each order of the gateway. */
  shop: string;
  /** The address at which the gateway reaches this server, like `https://shop.example`. Its webhook is below it. */
  serverUrl: string;
  /** The page of the storefront to which the payment page leads back. `{code}` is the code of the order. */
  returnUrl?: string;
  /** The page of the storefront for a shopper who does not pay. `{code}` is the code of the order. */
  cancelUrl?: string;
  /** The coins that you offer, the preferred one first. All that the gateway takes without it. */
  coins?: string[];
  /** Minutes until a payment page expires: 60 without it. */
  expirationMinutes?: number;
}

export const OPTIONS: symbol = Symbol('crypto-payments-options');

/** The path of the webhook on the server. */
export const WEBHOOK_PATH: string = '/crypto-payments/webhook';
