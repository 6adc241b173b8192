import type { PageDeposit } from '@cpg/contracts';
import { order } from '../openapi/examples.ts';
import type { PageAssets } from './assets.ts';
import { checkoutOf, type ShownOrder } from './checkout.ts';
import { speechFor } from './language.ts';
import { pageLink } from './page-link.ts';
import { renderCheckout } from './view/checkout-page.tsx';

/** A deposit as payments answers it. */
export const EXAMPLE_DEPOSIT: PageDeposit = {
  rail: 'gateway_pay',
  network: 'base',
  chain_id: 'eip155:8453',
  asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  decimals: 6,
  currency_decimals: 6,
  required_confirmations: 12,
};

const EXAMPLE: ShownOrder = {
  reference: 'example',
  order,
  revision: 0,
  page: { order_id: order.id, merchant_id: order.merchant_id, deposits: [EXAMPLE_DEPOSIT] },
  settings: { display_name: 'Example', frame_ancestors: [] },
  sightings: new Map(),
};

/** Renders an example with a QR code. Node.js compiles code and loads the data of `Intl` at the first use, which would
 *  cost the first payer after a start 30 ms. */
export const renderExample = (assets: PageAssets): string => {
  const now = new Date(order.created_at!);
  const checkout = checkoutOf(EXAMPLE, now);
  return renderCheckout({
    ...speechFor(undefined),
    checkout,
    version: '',
    now,
    way: checkout.ways[0]!,
    link: (choice) => pageLink(EXAMPLE.reference, choice),
    strip: null,
    assets,
  });
};
