import type { PaymentCurrency, Rail } from '@cpg/sdk';

/** What a merchant writes into `medusa-config.ts`. */
export interface PluginOptions {
  /** The address of the gateway, and a key of the merchant. */
  readonly gatewayUrl: string;
  readonly apiKey: string;
  /** The address at which the gateway reaches this Medusa server. */
  readonly backendUrl: string;
  /** A name that no other shop of the merchant has. `medusa` by default. */
  readonly shop: string;
  /** The coin of a session that names none. */
  readonly coin: PaymentCurrency;
  readonly rails: readonly Rail[];
  /** The page of the storefront to which the payment page leads back. */
  readonly returnUrl?: string;
  readonly cancelUrl?: string;
  readonly expirationMinutes?: number;
}

const REQUIRED = ['gatewayUrl', 'apiKey', 'backendUrl'] as const;
const TEXTS = [...REQUIRED, 'shop', 'coin', 'returnUrl', 'cancelUrl'] as const;
const KNOWN: readonly string[] = [...TEXTS, 'rails', 'expirationMinutes'];
const DEFAULTS = { shop: 'medusa', coin: 'USDC', rails: ['gateway_pay', 'crypto_deposit'] } as const;

/** Throws an error that names every fault, so that a shop with a wrong configuration does not start. */
export const readOptions = (given: Readonly<Record<string, unknown>> = {}): PluginOptions => {
  const faults = [
    ...REQUIRED.filter((name) => !given[name]).map((name) => `${name} is missing`),
    ...TEXTS.filter((name) => given[name] !== undefined && typeof given[name] !== 'string').map(
      (name) => `${name} must be text`,
    ),
    ...Object.keys(given)
      .filter((name) => !KNOWN.includes(name))
      .map((name) => `${name} is not an option: there are ${KNOWN.join(', ')}`),
  ];
  if (faults.length > 0) throw new Error(`@cpg/medusa-payments in medusa-config: ${faults.join('; ')}`);
  return { ...DEFAULTS, ...given } as unknown as PluginOptions;
};
